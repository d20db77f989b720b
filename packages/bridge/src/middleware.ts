import { CemError, toErrorInfo } from "@cem/core";
import type { ToolInvoker } from "@cem/core";

/** Does something before and after every call that goes on to the next invoker. */
export type Middleware = (next: ToolInvoker) => ToolInvoker;

/** One invoker of middlewares around another; the first is the outermost. */
export function compose(middlewares: readonly Middleware[], innermost: ToolInvoker): ToolInvoker {
  return middlewares.reduceRight((next, middleware) => middleware(next), innermost);
}

/** Makes whatever is thrown a result, as the port asks for, and tells a call that was cancelled from one that failed. */
export const answerErrors: Middleware = (next) => ({
  specificationVersion: "v1",
  async invoke(call, context) {
    try {
      return await next.invoke(call, context);
    } catch (error) {
      const { server, tool } = call;
      if (!context.signal.aborted) return { ok: false, error: toErrorInfo(error) };
      const message = `The call of ${server}.${tool} was cancelled.`;
      return {
        ok: false,
        error: toErrorInfo(new CemError("ABORTED", message, { details: { server, tool } })),
      };
    }
  },
});
