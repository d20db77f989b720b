import { abandonOnAbort } from "@cem/core";
import type { InvokeContext, ToolResult } from "@cem/core";
import type { Middleware } from "./middleware.ts";
import type { CheckedCall } from "./tool-source.ts";

/**
 * Creates a middleware that carries out calls of tools that are `serial` one after the other, in the order in which they
 * came; all others at once. Put it behind `checkCalls`, which finds the tool.
 *
 * A call that waits for an answer to a question lets the next one go on: a person may take long, and what answers may
 * itself call a tool.
 */
export function orderCalls(): Middleware {
  /** The end of the last call of each queue. */
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
      return queue === undefined
        ? next.invoke(call, context)
        : inTurn(queue, context, (inner) => next.invoke(call, inner));
    },
  });
}

type Invoke = (context: InvokeContext) => Promise<ToolResult>;

function queueOf({ server, found }: CheckedCall, { session }: InvokeContext): string | undefined {
  if (found?.serial === undefined) return undefined;
  return JSON.stringify(found.serial === "server" ? [server] : [server, session]);
}
