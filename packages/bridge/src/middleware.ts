import { callAborted, toErrorInfo } from "@cem/core";
import type { ToolInvoker } from "@cem/core";

/** Wraps an invoker in another, which may act before and after each call or not pass it on. */
export type Middleware = (next: ToolInvoker) => ToolInvoker;

/**
 * Wraps an invoker in middlewares.
 *
 * @param middlewares - The first is the outermost: it gets a call first and its result last.
 * @param innermost - Carries out the calls that all middlewares pass on.
 *
 * @example
 * ```ts
 * const log: Middleware = (next) => ({
 *   specificationVersion: "v1",
 *   async invoke(call, context) {
 *     const result = await next.invoke(call, context);
 *     console.log(`${call.server}.${call.tool}: ${result.ok ? "ok" : result.error.code}`);
 *     return result;
 *   },
 * });
 * // log → answerErrors → checkCalls → tools
 * const invoker = compose([log, answerErrors, checkCalls(tools)], tools);
 * ```
 */
export function compose(middlewares: readonly Middleware[], innermost: ToolInvoker): ToolInvoker {
  return middlewares.reduceRight((next, middleware) => middleware(next), innermost);
}

/**
 * Turns exceptions into results, as the port `ToolInvoker` requires. Where the context's signal has aborted, the error is
 * `ABORTED`, whatever was thrown.
 */
export const answerErrors: Middleware = (next) => ({
  specificationVersion: "v1",
  async invoke(call, context) {
    try {
      return await next.invoke(call, context);
    } catch (error) {
      return { ok: false, error: toErrorInfo(context.signal.aborted ? callAborted(call) : error) };
    }
  },
});
