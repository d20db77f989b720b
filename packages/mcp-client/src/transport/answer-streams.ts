import { randomUUID } from "node:crypto";
import type { Transport } from "@modelcontextprotocol/client";

/** Marks the error for a stream that ended without an answer. Random, so that no server can send it. */
export const STREAM_ENDED: string = randomUUID();
const SERVER_ERROR = -32_000;

/** Fails requests whose stream ends without an answer. The SDK would wait until the timeout. */
export function failWithStreams(transport: Transport): void {
  const unanswered = new Set<string | number>();
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    if (!("method" in message) || !("id" in message)) return send(message, options);
    const { id } = message;
    unanswered.add(id);
    // The stream of a cancelled request ends silently.
    options?.requestSignal?.addEventListener("abort", () => unanswered.delete(id), { once: true });
    const onRequestStreamEnd = (): void => {
      options?.onRequestStreamEnd?.();
      const error = { code: SERVER_ERROR, message: "its answer broke off", data: STREAM_ENDED };
      if (unanswered.delete(id)) transport.onmessage?.({ jsonrpc: "2.0", id, error });
    };
    return send(message, { ...options, onRequestStreamEnd }).catch((error: unknown) => {
      unanswered.delete(id);
      throw error;
    });
  };
  const previous = transport.onmessage;
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK has handlers only
  transport.onmessage = (message, extra) => {
    if ("id" in message && message.id !== undefined && !("method" in message)) unanswered.delete(message.id);
    previous?.(message, extra);
  };
}
