import type { AgentEvent } from "@cem/core";
import type { PluginUse } from "./plugin-use.ts";

const EVENTS_TIMEOUT_MS = 1_000;
const SETTLE_TIMEOUT_MS = 10_000;
/** How long events are gathered, since each passing on costs. */
const GATHER_MS = 5;
/** Events that wait for their listeners. The oldest beyond are dropped. */
const MAX_WAITING = 10_000;

/** A listener of a plugin. */
export interface OwnedListener {
  onEvent: (event: AgentEvent) => void | Promise<void>;
  use: PluginUse;
}

/** Forwards events to the listeners of plugins, after the work that they report has gone on. */
export class EventListeners {
  readonly #listeners: readonly OwnedListener[];
  #waiting: AgentEvent[] = [];
  #isPlanned = false;
  readonly #settling = new Set<Promise<unknown>>();

  constructor(listeners: readonly OwnedListener[]) {
    this.#listeners = listeners;
  }

  push(event: AgentEvent): void {
    if (this.#listeners.length === 0) return;
    this.#waiting.push(event);
    if (this.#waiting.length > MAX_WAITING) this.#waiting.shift();
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    setTimeout(() => this.#pass(), GATHER_MS).unref();
  }

  /** Passes on what waits, and waits for listeners that are at work. */
  async flush(): Promise<void> {
    this.#pass();
    await Promise.allSettled(this.#settling);
  }

  #pass(): void {
    this.#isPlanned = false;
    const events = this.#waiting;
    this.#waiting = [];
    if (events.length === 0) return;
    for (const { onEvent, use } of this.#listeners) {
      try {
        // A copy of its own: what a listener does to an event must reach nobody else.
        const copies = structuredClone(events);
        const returned = use.callNow("event listener", EVENTS_TIMEOUT_MS, () => copies.map(onEvent));
        this.#settle(returned, use);
      } catch {
        // Noted under the plugin's name.
      }
    }
  }

  #settle(returned: readonly (void | Promise<void>)[], use: PluginUse): void {
    const pending = returned.filter((one) => one instanceof Promise);
    if (pending.length === 0) return;
    const limits = { timeoutMs: SETTLE_TIMEOUT_MS };
    const settled = Promise.allSettled([use.call("event listener", limits, () => Promise.all(pending))]);
    this.#settling.add(settled);
    void settled.finally(() => this.#settling.delete(settled));
  }
}
