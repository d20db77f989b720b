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

/** Converts exceptions to results, as the port `ToolInvoker` requires: to `ABORTED` once the signal has aborted. */
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

interface Place {
  /** Resolves when all earlier places were left. Absent: there are none. */
  before: Promise<void> | undefined;
  leave: () => void;
}

/** Takes the last place of a queue. A call that waits for a person's answer leaves its place. */
function join(ends: Map<string, Promise<void>>, queue: string): Place {
  const { promise: left, resolve: leave } = Promise.withResolvers<void>();
  const before = ends.get(queue);
  const end = before === undefined ? left : before.then(() => left);
  ends.set(queue, end);
  void end.then(() => ends.get(queue) === end && ends.delete(queue));
  return { before, leave };
}

async function leaving<Context extends InvokeContext>(
  { leave }: Place,
  context: Context,
  invoke: (context: Context) => Promise<ToolResult>,
): Promise<ToolResult> {
  const onWaiting = (isWaiting: boolean): void => {
    if (isWaiting) leave();
    context.onWaiting?.(isWaiting);
  };
  try {
    return await invoke({ ...context, onWaiting });
  } finally {
    leave();
  }
}

/** The context of a call with its place among the calls of its run to the same server. */
type ArrivedContext = InvokeContext & { arrival?: (Place & { signal: AbortSignal }) | undefined };

/** The arrivals at each server, by the signal of the run. */
const arrivalsOf = new WeakMap<AbortSignal, Map<string, Promise<void>>>();

/** Notes the order of a run's calls, for {@link orderCalls}. Put it first: what stands between may delay earlier ones. */
export const noteArrivals: Middleware = (next) => ({
  specificationVersion: "v1",
  invoke(call, context: ArrivedContext) {
    const { signal } = context;
    // A call that has its place, or that another one makes before it leaves its own, would wait for itself.
    if (context.arrival?.signal === signal) return next.invoke(call, context);
    const arrivals = arrivalsOf.get(signal) ?? new Map<string, Promise<void>>();
    arrivalsOf.set(signal, arrivals);
    const arrival = { ...join(arrivals, call.server), signal };
    const arrived: ArrivedContext = { ...context, arrival };
    return leaving(arrival, arrived, (inner) => next.invoke(call, inner));
  },
});

/**
 * Creates a middleware that executes calls of `serial` tools one after the other, in the order of {@link noteArrivals} or
 * else in which they get here, and all others concurrently. Put it last, behind `checkCalls`, which finds the tool: each
 * call is announced (`announce` of its context) right before it is made.
 *
 * A call that waits for an answer to a question does not block the next one: a person may take long, and whatever answers
 * may itself call a tool.
 */
export function orderCalls(): Middleware {
  /** Resolves with the end of the last call of each queue. */
  const lastEnds = new Map<string, Promise<void>>();

  const inTurn = async (queue: string, context: ArrivedContext, invoke: Invoke): Promise<ToolResult> => {
    const { arrival, signal } = context;
    if (arrival?.before !== undefined) await abandonOnAbort(arrival.before, signal);
    const place = join(lastEnds, queue);
    arrival?.leave();
    return leaving(place, context, async (inner) => {
      if (place.before !== undefined) await abandonOnAbort(place.before, signal);
      return invoke(inner);
    });
  };

  return (next) => ({
    specificationVersion: "v1",
    invoke(call: CheckedCall, context: ArrivedContext) {
      const queue = queueOf(call, context);
      const invoke: Invoke = (inner) =>
        inner.announce === undefined
          ? next.invoke(call, inner)
          : announce(call, inner).then(() => next.invoke(call, inner));
      if (queue !== undefined) return inTurn(queue, context, invoke);
      context.arrival?.leave();
      return invoke(context);
    },
  });
}

async function announce({ server, tool, found }: CheckedCall, context: InvokeContext): Promise<void> {
  await context.announce?.({ server, tool, isRepeatable: isRepeatable(found?.annotations) });
  context.signal.throwIfAborted();
}

type Invoke = (context: InvokeContext) => Promise<ToolResult>;

function queueOf({ server, found }: CheckedCall, { session }: InvokeContext): string | undefined {
  if (found?.serial === undefined) return undefined;
  return JSON.stringify(found.serial === "server" ? [server] : [server, session]);
}
