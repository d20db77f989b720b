import { CemError, type AgentEvent } from "@cem/core";

const MAX_PROBLEMS = 20;
const MAX_REASON_CHARACTERS = 500;

export type PluginUse = ReturnType<typeof usePlugin>;

export function usePlugin(name: string, isRequired: boolean, onProblem: (message: string) => void) {
  const problems = new Set<string>();

  function note(message: string): void {
    if (problems.has(message) || problems.size >= MAX_PROBLEMS) return;
    problems.add(message);
    onProblem(message);
  }

  function failure(part: string, message: string, cause?: unknown): CemError {
    note(message);
    return new CemError("PLUGIN_FAILED", message, { details: { plugin: name, part }, cause });
  }

  return {
    name,
    /** Whether runs fail without the plugin. */
    isRequired,
    /** Problems, one sentence each. */
    get problems() {
      return [...problems];
    },
    note,
    /** `PLUGIN_FAILED`: a part threw. Noted. */
    failed(part: string, error: unknown): CemError {
      return failure(part, `The ${part} of the plugin ${name} failed: ${reasonOf(error)}`, error);
    },
    /** `PLUGIN_FAILED`: a part returned something unusable. Noted. */
    unusable(part: string, why: string): CemError {
      return failure(part, `The ${part} of the plugin ${name} can't be used: ${why}.`);
    },
  };
}

/** The message of a thrown value of any type, even one that can't be converted to text. */
export function reasonOf(error: unknown): string {
  try {
    const text = error instanceof Error ? error.message : String(error);
    return text.slice(0, MAX_REASON_CHARACTERS);
  } catch {
    return "it threw a value without a message";
  }
}

/** Forwards events to the listeners of plugins asynchronously, so that listeners don't delay the work. */
export function createListeners() {
  const listeners: { onEvent: (event: AgentEvent) => void | Promise<void>; use: PluginUse }[] = [];
  const pending = new Set<Promise<void>>();
  return {
    add: (onEvent: (event: AgentEvent) => void | Promise<void>, use: PluginUse) =>
      void listeners.push({ onEvent, use }),
    push(event: AgentEvent): void {
      for (const { onEvent, use } of listeners) {
        // Each listener gets its own copy, since it may modify the event.
        const heard = Promise.resolve(structuredClone(event))
          .then(onEvent)
          .catch((error: unknown) => void use.failed("event listener", error))
          .finally(() => pending.delete(heard));
        pending.add(heard);
      }
    },
    async flush(): Promise<void> {
      await Promise.all(pending);
    },
  };
}
