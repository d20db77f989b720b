import { AsyncLocalStorage } from "node:async_hooks";
import { randomBytes } from "node:crypto";
import {
  isJSONRPCRequest,
  isSpecType,
  WebStandardStreamableHTTPServerTransport,
  type CancelledNotificationParams,
  type EventStore,
  type JSONRPCMessage,
  type McpHandlerRequestOptions,
  type RequestId,
  type WebStandardStreamableHTTPServerTransportOptions as TransportOptions,
} from "@modelcontextprotocol/server";
import {
  MAX_ALL_KEPT_EVENT_CHARACTERS,
  MAX_KEPT_EVENT_CHARACTERS,
  MAX_KEPT_EVENTS,
  MIN_KEPT_EVENT_CHARACTERS,
  STREAM_RESUME_MS,
  STREAM_RETRY_MS,
} from "../limits.ts";
import { rpcRefusal } from "./checks.ts";

/** The first revision that allows events with empty data, so that a stream can begin with an id to resume from. */
const RESUMABLE_SINCE = "2025-11-25";
/** The SDK's name for the stream of messages that belong to no request. */
const STANDALONE_STREAM = "_GET_stream";
const SERVER_ERROR = -32_000;
const NOT_KEPT =
  "The request was carried out, and its answer is too large to be kept until you came back. See what it did before you repeat it.";
/** Maximum number of kept cancellations of requests that have not arrived or were already answered. */
const MAX_EARLY_CANCELLATIONS = 100;
const CANCELLED = "The request was cancelled.";
const AWAY = `The client was away for more than ${STREAM_RESUME_MS} ms, so the request was ended.`;

const encoder = new TextEncoder();

interface KeptEvent {
  number: number;
  stream: string;
  /** JSON; empty for an event that is no longer kept. */
  json: string;
  /** The id of the request that it answers. */
  answers: RequestId | undefined;
}

/** The requests of one body: their answer stream if it is resumable, and the timer that ends them without their client. */
interface Post {
  stream?: string;
  timer?: NodeJS.Timeout;
}

/** The body whose requests are being processed. */
const currentPost = new AsyncLocalStorage<Post>();
/** Total size of the kept events of all sessions, in characters. */
let allCharacters = 0;

/**
 * A session of the protocol before 2026-07-28. A client that loses an event stream can resume it for a while
 * (`Last-Event-ID`), since the session stores its last events.
 */
export class LegacySession implements EventStore {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  /** Unanswered requests. */
  readonly #open = new Map<RequestId, Post>();
  /** Requests whose cancellation arrived first, since clients send it on any free connection. Oldest first. */
  readonly #cancelled = new Set<RequestId>();
  /** Makes event ids unique to this session. */
  readonly #prefix = randomBytes(6).toString("base64url");
  readonly #events: KeptEvent[] = [];
  #last = 0;
  #characters = 0;
  #isClosed = false;

  constructor(settings: TransportOptions) {
    this.transport = new WebStandardStreamableHTTPServerTransport({
      ...settings,
      eventStore: this,
      retryInterval: STREAM_RETRY_MS,
    });
    const onclose = (): void => {
      this.#isClosed = true;
      this.#count(-this.#characters);
    };
    Object.assign(this.transport, { onclose });
  }

  /** @param messages - The messages of the request's body. */
  async handle(
    request: Request,
    messages: readonly unknown[],
    options: McpHandlerRequestOptions,
  ): Promise<Response> {
    const { method, headers, signal } = request;
    const ids = messages.filter((message) => isJSONRPCRequest(message)).map(({ id }) => id);
    // The SDK would answer both requests on the stream of the second.
    const twice = ids.find((id) => this.#open.has(id));
    if (twice !== undefined)
      return rpcRefusal(400, -32_600, `Bad Request: the request ${twice} is under way already`);
    const early = ids.find((id) => this.#cancelled.delete(id));
    if (early !== undefined && ids.length === 1) return Response.json(failure(early, CANCELLED));
    const isResumable = (headers.get("mcp-protocol-version") ?? "") >= RESUMABLE_SINCE;
    const post: Post = {};
    for (const id of ids) this.#open.set(id, post);
    const answer = await currentPost.run(post, () => this.transport.handleRequest(request, options));
    if (!answer.ok) {
      for (const id of ids) this.#open.delete(id);
      return answer;
    }
    for (const message of messages) if (isSpecType.CancelledNotification(message)) this.#note(message.params);
    if (answer.body === null) return answer;
    const beginning = method === "GET" ? await this.#beginning(request, isResumable) : undefined;
    const answered = method === "GET" ? this.#postOf(headers.get("last-event-id")) : post;
    const relay = new TransformStream<Uint8Array, Uint8Array>({
      start: (controller) => {
        if (beginning !== undefined) controller.enqueue(beginning);
        const onDisconnect = (): void => {
          // Otherwise the stream would end only at its next event, and could not be resumed until then.
          controller.terminate();
          const waitMs = isResumable ? STREAM_RESUME_MS : 0;
          if (answered !== undefined) answered.timer = setTimeout(() => this.#end(answered), waitMs);
        };
        if (signal.aborted) onDisconnect();
        else signal.addEventListener("abort", onDisconnect, { once: true });
      },
    });
    return new Response(answer.body.pipeThrough(relay), answer);
  }

  async storeEvent(stream: string, message: JSONRPCMessage): Promise<string> {
    const number = ++this.#last;
    const answers = "method" in message || !("id" in message) ? undefined : message.id;
    if (answers !== undefined) this.#open.delete(answers);
    // An event without a message only gives the client an id to resume from.
    if (!("jsonrpc" in message)) Object.assign(currentPost.getStore() ?? {}, { stream });
    else if (!this.#isClosed) this.#keep({ number, stream, json: JSON.stringify(message), answers });
    return this.#idOf(number, stream);
  }

  /** Contains the stream's name, so that the stream is found even if the event is no longer kept. */
  #idOf(number: number, stream: string): string {
    return `${this.#prefix}.${number}.${stream}`;
  }

  async getStreamIdForEventId(id: string): Promise<string | undefined> {
    const [prefix, , stream] = id.split(".");
    return prefix === this.#prefix ? stream : undefined;
  }

  async replayEventsAfter(
    id: string,
    { send }: Parameters<EventStore["replayEventsAfter"]>[1],
  ): Promise<string> {
    const [, number, stream = ""] = id.split(".");
    clearTimeout(this.#postOf(id)?.timer);
    const missed = this.#events.filter((event) => event.stream === stream && event.number > Number(number));
    for (const { number: at, json, answers } of missed) {
      const eventId = this.#idOf(at, stream);
      if (json !== "") await send(eventId, JSON.parse(json) as JSONRPCMessage);
      else if (answers !== undefined) await send(eventId, failure(answers, NOT_KEPT));
    }
    return stream;
  }

  #keep(event: KeptEvent): void {
    this.#events.push(event);
    this.#count(event.json.length);
    if (this.#events.length > MAX_KEPT_EVENTS) {
      // Clients wait for answers, so other events are dropped first.
      const at = Math.max(
        0,
        this.#events.findIndex(({ answers }) => answers === undefined),
      );
      for (const { json } of this.#events.splice(at, 1)) this.#count(-json.length);
    }
    for (const old of this.#events) {
      const isMuch = allCharacters > MAX_ALL_KEPT_EVENT_CHARACTERS;
      const most = isMuch ? MIN_KEPT_EVENT_CHARACTERS : MAX_KEPT_EVENT_CHARACTERS;
      if (this.#characters <= most) return;
      this.#count(-old.json.length);
      old.json = "";
    }
  }

  #count(characters: number): void {
    this.#characters += characters;
    allCharacters += characters;
  }

  /** The requests answered on the stream of an event. */
  #postOf(id: string | null): Post | undefined {
    const stream = id?.split(".")[2];
    return [...this.#open.values()].find((post) => post.stream !== undefined && post.stream === stream);
  }

  /** The beginning of a stream, which sends its headers: an id to resume from, as in the SDK's others, or a comment. */
  async #beginning(request: Request, isResumable: boolean): Promise<Uint8Array> {
    const isResumed = request.headers.get("last-event-id") !== null;
    if (!isResumable || isResumed) return encoder.encode(":\n\n");
    const id = await this.storeEvent(STANDALONE_STREAM, {} as JSONRPCMessage);
    return encoder.encode(`id: ${id}\nretry: ${STREAM_RETRY_MS}\ndata: \n\n`);
  }

  /** Cancels requests whose client disconnected and did not resume in time. */
  #end(post: Post): void {
    for (const [id, of] of this.#open) if (of === post) this.#cancel(id, "The client disconnected.", AWAY);
  }

  /** Cancels a request, or refuses it when it arrives later. */
  #note({ requestId }: CancelledNotificationParams): void {
    if (requestId === undefined) return;
    if (this.#open.has(requestId)) return this.#cancel(requestId, CANCELLED, CANCELLED);
    const [oldest = requestId] = this.#cancelled;
    if (this.#cancelled.size >= MAX_EARLY_CANCELLATIONS) this.#cancelled.delete(oldest);
    this.#cancelled.add(requestId);
  }

  /** Cancels a request and answers it. The SDK does not answer, so the stream would stay open and the client would resume it. */
  #cancel(requestId: RequestId, reason: string, message: string): void {
    const params = { requestId, reason };
    this.transport.onmessage?.({ jsonrpc: "2.0", method: "notifications/cancelled", params });
    this.transport.send(failure(requestId, message)).catch(() => {});
  }
}

function failure(id: RequestId, message: string): JSONRPCMessage {
  return { jsonrpc: "2.0", id, error: { code: SERVER_ERROR, message } };
}
