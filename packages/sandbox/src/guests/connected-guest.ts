import { CemError } from "@cem/core";
import { createFrameReader } from "../protocol/frame-reader.ts";
import { readGuestMessage, type GuestMessage } from "../protocol/guest-messages.ts";
import type { Guest, GuestExit } from "./guest.ts";
import { encodeHostMessage } from "../protocol/host-messages.ts";

/** Default timeout for a guest's start, in milliseconds. */
const START_TIMEOUT_MS = 15_000;
const STDERR_KEPT_BYTES = 4_096;

/** Receives what a guest sends while its program runs. */
export interface GuestListener {
  onMessage(message: GuestMessage, bytes: number): void;
  onText(stream: "stdout" | "stderr", bytes: Buffer): void;
  onViolation(message: string, kind: "protocol" | "size"): void;
  /** The guest has ended, or had ended already. */
  onExit(exit: GuestExit): void;
}

/** A guest whose output is parsed into messages and text from the first byte. */
export type ConnectedGuest = ReturnType<typeof attachTo>;

export function attachTo(guest: Guest) {
  let listener: GuestListener | undefined;
  let ended: GuestExit | undefined;
  let stderr: Buffer = Buffer.alloc(0);
  const reader = createFrameReader({
    token: guest.token,
    onFrame(frame) {
      if (listener === undefined) return;
      const read = readGuestMessage(frame);
      if (typeof read === "string") listener.onViolation(read, "protocol");
      else listener.onMessage(read, frame.length);
    },
    onText: (bytes) => listener?.onText("stdout", bytes),
    onViolation: (message, kind) => listener?.onViolation(message, kind),
  });
  const connected = {
    guest,
    /** The runtime's version, as the guest reported it. Empty before it is ready. */
    version: "",
    /** Bytes received from the guest, on stdout and stderr together. */
    receivedBytes: 0,
    /** The last 4 KiB of its stderr, where the runtime reports why it crashed. */
    get stderrTail(): string {
      return stderr.toString("utf8");
    },
    /**
     * Replaces the listener. Earlier output is not repeated.
     *
     * @param next - `undefined` discards everything that the guest sends.
     * @param maxFrameBytes - The longest message accepted; a longer one is a violation.
     */
    listen(next: GuestListener | undefined, maxFrameBytes = 0): void {
      listener = next;
      reader.maxFrameBytes = maxFrameBytes;
      if (ended !== undefined) listener?.onExit(ended);
    },
  };
  guest.stdout.on("data", (chunk: Buffer) => {
    connected.receivedBytes += chunk.length;
    reader.push(chunk);
  });
  guest.stderr.on("data", (chunk: Buffer) => {
    connected.receivedBytes += chunk.length;
    stderr = Buffer.concat([stderr, chunk]).subarray(-STDERR_KEPT_BYTES);
    listener?.onText("stderr", chunk);
  });
  // The guest may exit at any moment; unread input is not an error.
  for (const stream of [guest.stdin, guest.stdout, guest.stderr]) stream.on("error", () => {});
  const end = (exit: GuestExit): void => {
    ended = exit;
    reader.end();
    listener?.onExit(exit);
  };
  void guest.exited.then(end);
  return connected;
}

/**
 * Waits until a guest reports that it is ready; kills it otherwise.
 *
 * @param timeoutMs - In milliseconds. Default 15,000.
 * @throws CemError `GUEST_START_FAILED`, with the end of the guest's stderr in `details.stderr`.
 */
export async function connectGuest(guest: Guest, timeoutMs: number = START_TIMEOUT_MS) {
  const connected = attachTo(guest);
  const failure = await awaitReady(connected, timeoutMs, "at its start");
  if (failure === undefined) return connected;
  guest.kill();
  const stderr = connected.stderrTail.trim();
  throw new CemError(
    "GUEST_START_FAILED",
    `The guest ${failure}.${stderr === "" ? "" : ` Its stderr: ${stderr}`}`,
    { details: { stderr } },
  );
}

/** Pings an idle guest. @returns the reason why it can't be used; `undefined` when it is healthy. */
export function checkHealth(connected: ConnectedGuest, timeoutMs: number): Promise<string | undefined> {
  const answer = awaitReady(connected, timeoutMs, "while idle");
  connected.guest.stdin.write(encodeHostMessage({ type: "ping" }));
  return answer;
}

/**
 * Waits for a guest's `ready` message, which it sends at its start and when it is pinged.
 *
 * @param when - The moment, for the reason: `at its start`.
 * @returns The reason when it does not arrive; `undefined` when it does.
 */
async function awaitReady(connected: ConnectedGuest, timeoutMs: number, when: string) {
  const failure = await new Promise<string | undefined>((resolve) => {
    const timer = setTimeout(() => resolve(`was not ready within ${timeoutMs} ms`), timeoutMs);
    const settle = (problem: string | undefined) => {
      clearTimeout(timer);
      resolve(problem);
    };
    connected.listen(
      {
        onMessage(message) {
          if (message.type !== "ready") return settle("sent a message before it was ready");
          connected.version = message.version;
          settle(undefined);
        },
        onText: () => {},
        onViolation: (problem) => settle(`sent ${problem} ${when}`),
        onExit: ({ code, signal }) => settle(`ended ${when} (${signal ?? `exit code ${code}`})`),
      },
      64 * 1024,
    );
  });
  connected.listen(undefined);
  return failure;
}
