import { abandonOnAbort, callAborted, CemError, isRepeatable, toErrorInfo } from "@cem/core";
import type { InvokeContext, ToolInvoker, ToolResult } from "@cem/core";
import type { CheckedCall } from "./tool-source.ts";

/** Wraps an invoker in another one, which may act before and after each call or reject it. */
export type Middleware = (next: ToolInvoker) => ToolInvoker;

/**
 * Wraps an invoker in middlewares.
 *
 * @param middlewares - The first is the outermost: it receives a call first and its result last.
 * @param innermost - Executes the calls that all middlewares pass on.
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
 * Converts exceptions to results, as the port `ToolInvoker` requires. If the context's signal has aborted, the error is
 * `ABORTED`, whatever was thrown.
 */
export const answerErrors: Middleware = (next) => ({
  specificationVersion: "v1",
  async invoke(call, context) {
    try {
      return await next.invoke(call, context);
    } catch (error) {
      const isAborted = context.signal.aborted && !isSent(error);
      return { ok: false, error: toErrorInfo(isAborted ? callAborted(call) : error) };
    }
  },
});

function isSent(error: unknown): boolean {
  return CemError.isInstance(error) && error.details["isSent"] === true;
}

/**
 * Creates a middleware that executes calls of `serial` tools one after the other, in order of arrival, and all others
 * concurrently. Put it last, behind `checkCalls`, which finds the tool: each call is announced
 * (`announce` of its context) right before it is made.
 *
 * A call that waits for an answer to a question does not block the next one: a person may take long, and whatever answers
 * may itself call a tool.
 */
export function orderCalls(): Middleware {
  /** Resolves with the end of the last call of each queue. */
  const lastEnds = new Map<string, Promise<void>>();

  const inTurn = async (queue: string, context: InvokeContext, invoke: Invoke): Promise<ToolResult> => {
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const before = lastEnds.get(queue);
    const lastEnd = before === undefined ? ended : before.then(() => ended);
    lastEnds.set(queue, lastEnd);
    void lastEnd.then(() => lastEnds.get(queue) === lastEnd && lastEnds.delete(queue));
    try {
      if (before !== undefined) await abandonOnAbort(before, context.signal);
      const onWaiting = (isWaiting: boolean): void => {
        if (isWaiting) end();
        context.onWaiting?.(isWaiting);
      };
      return await invoke({ ...context, onWaiting });
    } finally {
      end();
    }
  };

  return (next) => ({
    specificationVersion: "v1",
    invoke(call: CheckedCall, context) {
      const queue = queueOf(call, context);
      const invoke: Invoke = (inner) =>
        inner.announce === undefined
          ? next.invoke(call, inner)
          : announce(call, inner).then(() => next.invoke(call, inner));
      return queue === undefined ? invoke(context) : inTurn(queue, context, invoke);
    },
  });
}

/** Announces a call right before it is made. */
async function announce({ server, tool, found }: CheckedCall, context: InvokeContext): Promise<void> {
  await context.announce?.({ server, tool, isRepeatable: isRepeatable(found?.annotations) });
  context.signal.throwIfAborted();
}

type Invoke = (context: InvokeContext) => Promise<ToolResult>;

function queueOf({ server, found }: CheckedCall, { session }: InvokeContext): string | undefined {
  if (found?.serial === undefined) return undefined;
  return JSON.stringify(found.serial === "server" ? [server] : [server, session]);
}
