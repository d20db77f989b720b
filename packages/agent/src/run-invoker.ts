import type { ExecuteOptions, ToolInvoker } from "@cem/core";

/** The invoker for one run: what is behind it is told whose run a call comes from. */
export function forRun(invoker: ToolInvoker, { onElicit, session }: ExecuteOptions): ToolInvoker {
  const whose = {
    ...(onElicit === undefined ? {} : { elicit: onElicit }),
    ...(session === undefined ? {} : { session }),
  };
  return {
    specificationVersion: "v1",
    invoke: (call, context) => invoker.invoke(call, { ...context, ...whose }),
  };
}
