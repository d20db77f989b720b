import { randomBytes } from "node:crypto";
import type { EventStore, JSONRPCMessage } from "@modelcontextprotocol/server";
import { MAX_KEPT_EVENT_CHARACTERS, MAX_KEPT_EVENTS } from "./limits.ts";

interface KeptEvent {
  id: string;
  stream: string;
  /** JSON; empty for an event without a message, which tells a client from where to resume. */
  message: string;
}

/** The last events of one session, for a client that comes back to an interrupted stream (`Last-Event-ID`). */
export class KeptEvents implements EventStore {
  /** Ids of another session's events are unknown here. */
  readonly #prefix = randomBytes(6).toString("base64url");
  readonly #events: KeptEvent[] = [];
  readonly #onResume: (stream: string) => void;
  #last = 0;
  #characters = 0;

  /** @param onResume - Called when a client comes back to a stream. */
  constructor(onResume: (stream: string) => void) {
    this.#onResume = onResume;
  }

  async storeEvent(stream: string, message: JSONRPCMessage | object): Promise<string> {
    const id = `${this.#prefix}-${++this.#last}`;
    const whole = "jsonrpc" in message ? JSON.stringify(message) : "";
    const json = whole.length > MAX_KEPT_EVENT_CHARACTERS ? "" : whole;
    this.#events.push({ id, stream, message: json });
    this.#characters += json.length;
    while (this.#events.length > MAX_KEPT_EVENTS || this.#characters > MAX_KEPT_EVENT_CHARACTERS) {
      this.#characters -= this.#events.shift()?.message.length ?? 0;
    }
    return id;
  }

  async getStreamIdForEventId(id: string): Promise<string | undefined> {
    return this.#events.find((event) => event.id === id)?.stream;
  }

  async replayEventsAfter(
    id: string,
    { send }: { send: (id: string, message: JSONRPCMessage) => Promise<void> },
  ): Promise<string> {
    const at = this.#events.findIndex((event) => event.id === id);
    const stream = this.#events[at]?.stream ?? "";
    this.#onResume(stream);
    const missed = this.#events
      .slice(at + 1)
      .filter((event) => event.stream === stream && event.message !== "");
    for (const event of missed) await send(event.id, JSON.parse(event.message) as JSONRPCMessage);
    return stream;
  }
}
