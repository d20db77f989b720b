import { randomBytes } from "node:crypto";
import { isJSONRPCRequest, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import type {
  EventStore,
  JSONRPCMessage,
  McpHandlerRequestOptions,
  WebStandardStreamableHTTPServerTransportOptions as TransportOptions,
} from "@modelcontextprotocol/server";
import { MAX_KEPT_EVENT_CHARACTERS, MAX_KEPT_EVENTS, STREAM_RESUME_MS, STREAM_RETRY_MS } from "../limits.ts";

/** The revision from which an event may have empty data, so that a stream can begin with the id to resume from. */
const RESUMABLE_SINCE = "2025-11-25";
/** The SDK's name for the stream of messages that belong to no request. */
const STANDALONE_STREAM = "_GET_stream";

const encoder = new TextEncoder();

interface KeptEvent {
  id: string;
  stream: string;
  /** JSON; empty for an event without a message, which tells a client from where to resume. */
  message: string;
}

/**
 * Keeps the last events of one session, for a client that comes back to an interrupted stream (`Last-Event-ID`).
 *
 * @param onResume - Called when a client comes back to a stream.
 */
function keepEvents(onResume: () => void): EventStore {
  /** Ids of another session's events are unknown here. */
  const prefix = randomBytes(6).toString("base64url");
  const events: KeptEvent[] = [];
  let last = 0;
  let characters = 0;
  return {
    async storeEvent(stream, message) {
      const id = `${prefix}-${++last}`;
      const whole = "jsonrpc" in message ? JSON.stringify(message) : "";
      const json = whole.length > MAX_KEPT_EVENT_CHARACTERS ? "" : whole;
      events.push({ id, stream, message: json });
      characters += json.length;
      while (events.length > MAX_KEPT_EVENTS || characters > MAX_KEPT_EVENT_CHARACTERS)
        characters -= events.shift()?.message.length ?? 0;
      return id;
    },
    getStreamIdForEventId: async (id) => events.find((event) => event.id === id)?.stream,
    async replayEventsAfter(id, { send }) {
      const at = events.findIndex((event) => event.id === id);
      const stream = events[at]?.stream ?? "";
      onResume();
      const later = events.slice(at + 1);
      const missed = later.filter((event) => event.stream === stream && event.message !== "");
      for (const event of missed) await send(event.id, JSON.parse(event.message) as JSONRPCMessage);
      return stream;
    },
  };
}

/** A session of the protocol before 2026-07-28. A client that loses an event stream can come back to it for a while. */
export class LegacySession {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly #events = keepEvents(() => {
    for (const timer of this.#cancellations) clearTimeout(timer);
    this.#cancellations.clear();
  });
  readonly #cancellations = new Set<NodeJS.Timeout>();

  constructor(settings: TransportOptions) {
    this.transport = new WebStandardStreamableHTTPServerTransport({
      ...settings,
      eventStore: this.#events,
      retryInterval: STREAM_RETRY_MS,
    });
  }

  /** @param messages - Those of the request's body. */
  async handle(
    request: Request,
    messages: readonly unknown[],
    options: McpHandlerRequestOptions,
  ): Promise<Response> {
    const version = request.headers.get("mcp-protocol-version") ?? "";
    const isResumable = version >= RESUMABLE_SINCE;
    this.#cancelOnDisconnect(request.signal, messages, isResumable ? STREAM_RESUME_MS : 0);
    const answer = await this.transport.handleRequest(request, options);
    if (!answer.ok || answer.body === null) return answer;
    const beginning = request.method === "GET" ? await this.#beginning(request, isResumable) : undefined;
    const relay = new TransformStream<Uint8Array, Uint8Array>({
      start: (controller) => {
        if (beginning !== undefined) controller.enqueue(beginning);
        // Without this the stream would end with its next event, and could not be resumed before.
        request.signal.addEventListener("abort", () => controller.terminate(), { once: true });
      },
    });
    return new Response(answer.body.pipeThrough(relay), answer);
  }

  /**
   * The beginning of a stream that a client listens to, without which its headers would be sent with the first message:
   * an id to resume from, as the SDK begins other streams, or a comment.
   */
  async #beginning(request: Request, isResumable: boolean): Promise<Uint8Array> {
    const isResumed = request.headers.get("last-event-id") !== null;
    if (!isResumable || isResumed) return encoder.encode(":\n\n");
    const id = await this.#events.storeEvent(STANDALONE_STREAM, {} as JSONRPCMessage);
    return encoder.encode(`id: ${id}\nretry: ${STREAM_RETRY_MS}\ndata: \n\n`);
  }

  /** Cancels a client's requests after it disconnected, unless it comes back in time. */
  #cancelOnDisconnect(signal: AbortSignal, messages: readonly unknown[], delayMs: number): void {
    const requests = messages.filter((message) => isJSONRPCRequest(message));
    if (requests.length === 0) return;
    const cancel = (): void => {
      for (const { id } of requests) {
        const message: JSONRPCMessage = {
          jsonrpc: "2.0",
          method: "notifications/cancelled",
          params: { requestId: id, reason: "The client disconnected." },
        };
        this.transport.onmessage?.(message);
      }
    };
    const onDisconnect = (): void => {
      if (delayMs === 0) return cancel();
      const timer = setTimeout(() => {
        this.#cancellations.delete(timer);
        cancel();
      }, delayMs);
      this.#cancellations.add(timer);
    };
    signal.addEventListener("abort", onDisconnect, { once: true });
  }
}
