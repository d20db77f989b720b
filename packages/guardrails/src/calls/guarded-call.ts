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

/** The annotations of a call's tool. */
export function annotationsOf(call: Pick<GuardedCall, "found">): ToolAnnotations {
  return call.found?.annotations ?? {};
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
