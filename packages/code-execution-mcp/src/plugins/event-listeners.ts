import type { AgentEvent } from "@cem/core";
import type { PluginUse } from "./plugin-use.ts";

/** A listener of a plugin. */
export interface OwnedListener {
  onEvent: (event: AgentEvent) => void | Promise<void>;
  use: PluginUse;
}

/** Forwards events to the listeners of plugins, after the work that they report has gone on. */
export class EventListeners {
  readonly #listeners: readonly OwnedListener[];
  readonly #pending = new Set<Promise<void>>();

  constructor(listeners: readonly OwnedListener[]) {
    this.#listeners = listeners;
  }

  push(event: AgentEvent): void {
    for (const { onEvent, use } of this.#listeners) {
      // A copy of its own: what a listener does to an event must reach nobody else.
      const heard = Promise.resolve(structuredClone(event))
        .then(onEvent)
        .catch((error: unknown) => void use.failed("event listener", error))
        .finally(() => this.#pending.delete(heard));
      this.#pending.add(heard);
    }
  }

  /** Waits for listeners that are at work. */
  async flush(): Promise<void> {
    await Promise.all(this.#pending);
  }
}
