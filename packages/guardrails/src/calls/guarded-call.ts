import type { InvokeContext, JsonValue, ToolAnnotations, ToolCall, ToolInvoker } from "@cem/core";

/** A call with information on its tool. The middlewares of `@cem/bridge` pass such calls on. */
export interface GuardedCall extends ToolCall {
  /** The arguments with numbers for texts that are sent as numbers. */
  asNumbers?: JsonValue | undefined;
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

export function annotationsOf(call: Pick<GuardedCall, "found">): ToolAnnotations {
  return call.found?.annotations ?? {};
}

/** Creates a guard from a check that throws for a bad call. */
export function checkingGuard(
  check: (call: GuardedCall, context: InvokeContext) => Promise<void> | undefined | void,
): CallGuard {
  return (next) => ({
    specificationVersion: "v1",
    invoke(call, context) {
      try {
        // Most checks are synchronous.
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
