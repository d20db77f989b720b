import { randomUUID } from "node:crypto";
import type { Transport } from "@modelcontextprotocol/client";

/** Marks the error for a stream that ended without an answer. Random, so that no server can send it. */
export const STREAM_ENDED: string = randomUUID();
const SERVER_ERROR = -32_000;

/** How long a server may take to end the stream of a call that it has answered, in milliseconds. */
const LINGER_MS = 2_000;

/**
 * Fails requests whose stream ends without an answer, for which the SDK would wait until the timeout. Closes the streams of
 * requests that were cancelled, or answered some time ago: a server may keep them open for ever.
 */
export function failWithStreams(transport: Transport): void {
  /** Of requests without an answer, by id. */
  const streams = new Map<unknown, AbortController>();
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    if (!("method" in message) || !("id" in message)) {
      const sent = send(message, options);
      if ("method" in message && message.method === "notifications/cancelled")
        streams.get(message.params?.["requestId"])?.abort();
      return sent;
    }
    const { id } = message;
    const own = new AbortController();
    const given = options?.requestSignal;
    const requestSignal = given === undefined ? own.signal : AbortSignal.any([given, own.signal]);
    const forget = (): boolean => streams.delete(id);
    streams.set(id, own);
    // The stream of a cancelled request ends silently.
    requestSignal.addEventListener("abort", forget, { once: true });
    const onRequestStreamEnd = (): void => {
      options?.onRequestStreamEnd?.();
      const error = { code: SERVER_ERROR, message: "its answer broke off", data: STREAM_ENDED };
      if (forget()) transport.onmessage?.({ jsonrpc: "2.0", id, error });
    };
    return send(message, { ...options, requestSignal, onRequestStreamEnd }).catch((error: unknown) => {
      forget();
      throw error;
    });
  };
  const previous = transport.onmessage;
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK has handlers only
  transport.onmessage = (message, extra) => {
    const id = "method" in message || !("id" in message) ? undefined : message.id;
    const answered = streams.get(id);
    if (answered !== undefined) {
      streams.delete(id);
      setTimeout(() => answered.abort(), LINGER_MS).unref();
    }
    previous?.(message, extra);
  };
}
