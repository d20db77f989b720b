import type { InvokeContext, ToolAnnotations, ToolCall, ToolInvoker } from "@cem/core";

/** A call with what is known of its tool. The middlewares of `@cem/bridge` pass such calls on. */
export interface GuardedCall extends ToolCall {
  found?:
    | {
        annotations?: ToolAnnotations | undefined;
        outputSchema?: object | undefined;
        /** Whether the tool's code runs in a sandbox. */
        sandboxed?: boolean | undefined;
      }
    | undefined;
}

/** Wraps an invoker. `compose` of `@cem/bridge` takes such functions. */
export type CallGuard = (next: ToolInvoker) => ToolInvoker;

/** The most sessions that are remembered; the one that was used least recently goes first. */
const MAX_SESSIONS = 10_000;

/** The annotations of a call's tool. */
export function annotationsOf(call: Pick<GuardedCall, "found">): ToolAnnotations {
  return call.found?.annotations ?? {};
}

/** Keeps something for each session or run, for the most recent ones. */
export class PerSubject<Value> {
  readonly #values = new Map<string, Value>();
  readonly #create: () => Value;

  constructor(create: () => Value) {
    this.#create = create;
  }

  get(subject: string): Value {
    const known = this.#values.get(subject);
    const value = known ?? this.#create();
    this.#values.delete(subject);
    this.#values.set(subject, value);
    const [oldest] = this.#values.keys();
    if (this.#values.size > MAX_SESSIONS && oldest !== undefined) this.#values.delete(oldest);
    return value;
  }
}

/** Makes a guard of a check that throws what is wrong with a call. */
export function checkingGuard(
  check: (call: GuardedCall, context: InvokeContext) => Promise<void> | undefined | void,
): CallGuard {
  return (next) => ({
    specificationVersion: "v1",
    invoke(call, context) {
      try {
        // Most checks have nothing to wait for.
        const checking = check(call, context);
        return checking === undefined
          ? next.invoke(call, context)
          : checking.then(() => next.invoke(call, context));
      } catch (error) {
        return Promise.reject(error);
      }
    },
  });
}
