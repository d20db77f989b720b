import { CemError } from "@cem/core";
import type { AgentEvent } from "@cem/core";

const MAX_PROBLEMS = 20;
const MAX_REASON_CHARACTERS = 500;

/** The use of one plugin: what goes wrong with it is noted under its name. */
export class PluginUse {
  readonly name: string;
  /** Whether nothing may run without the plugin. */
  readonly isRequired: boolean;
  readonly #problems = new Set<string>();
  readonly #onProblem: (message: string) => void;

  constructor(name: string, isRequired: boolean, onProblem: (message: string) => void) {
    this.name = name;
    this.isRequired = isRequired;
    this.#onProblem = onProblem;
  }

  /** Problems, one sentence each. */
  get problems(): readonly string[] {
    return [...this.#problems];
  }

  /** Notes a problem, once. */
  note(message: string): void {
    if (this.#problems.has(message) || this.#problems.size >= MAX_PROBLEMS) return;
    this.#problems.add(message);
    this.#onProblem(message);
  }

  /** `PLUGIN_FAILED`: a part threw. Noted. */
  failed(part: string, error: unknown): CemError {
    return this.#failure(part, `The ${part} of the plugin ${this.name} failed: ${reasonOf(error)}`, error);
  }

  /** `PLUGIN_FAILED`: a part gave something that can't be used. Noted. */
  unusable(part: string, why: string): CemError {
    return this.#failure(part, `The ${part} of the plugin ${this.name} can't be used: ${why}.`);
  }

  #failure(part: string, message: string, cause?: unknown): CemError {
    this.note(message);
    return new CemError("PLUGIN_FAILED", message, { details: { plugin: this.name, part }, cause });
  }
}

/** Message of a thrown value, which may be of any type, also one that can't be turned into text. */
export function reasonOf(error: unknown): string {
  try {
    const text = error instanceof Error ? error.message : String(error);
    return text.slice(0, MAX_REASON_CHARACTERS);
  } catch {
    return "it threw what has no text";
  }
}

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
