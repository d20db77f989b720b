import { CemError } from "@cem/core";
import { HEARTBEAT_MS, MAX_STREAMS_PER_AUDIENCE } from "./limits.ts";
import type { RunBoard } from "./run-board.ts";

/** What a slow reader has not taken. It gets no more until it has, and reads the list again. */
const MAX_WAITING_EVENTS = 256;

/**
 * Runs of an audience as server-sent events, until the reader goes away.
 *
 * @throws CemError `RATE_LIMITED` where the audience has too many streams.
 */
export function streamRuns(board: RunBoard, audience: string, signal: AbortSignal): Response {
  const open = board.listening(audience);
  if (open >= MAX_STREAMS_PER_AUDIENCE) {
    throw new CemError("RATE_LIMITED", `${open} event streams are open, which is the maximum. Close one.`, {
      details: { streams: open, maxStreams: MAX_STREAMS_PER_AUDIENCE },
    });
  }
  let stop: () => void = () => {};
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const encoder = new TextEncoder();
        const send = (text: string): void => {
          if ((controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(text));
        };
        const unsubscribe = board.subscribe(audience, ({ summary }) =>
          send(`event: run\ndata: ${JSON.stringify(summary)}\n\n`),
        );
        const heartbeat = setInterval(() => send(": still here\n\n"), HEARTBEAT_MS).unref();
        const close = (): void => {
          stop();
          controller.close();
        };
        stop = () => {
          clearInterval(heartbeat);
          unsubscribe();
          // What was cancelled can't be closed.
          signal.removeEventListener("abort", close);
        };
        signal.addEventListener("abort", close, { once: true });
        send(": open\n\n");
        if (signal.aborted) close();
      },
      cancel() {
        stop();
      },
    },
    { highWaterMark: MAX_WAITING_EVENTS },
  );
  return new Response(body, {
    headers: { "content-type": "text/event-stream", "cache-control": "no-store", "x-accel-buffering": "no" },
  });
}
