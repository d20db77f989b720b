import type { Middleware } from "./middleware.ts";
import type { CheckedCall } from "./tool-source.ts";

/**
 * Creates a middleware that tells of each call right before it is made. Put it last: what is told of is made, as far as
 * this process lives.
 */
export function announceCalls(): Middleware {
  return (next) => ({
    specificationVersion: "v1",
    invoke(call: CheckedCall, context) {
      if (context.announce === undefined) return next.invoke(call, context);
      const { readOnlyHint, idempotentHint } = call.found?.annotations ?? {};
      const isRepeatable = readOnlyHint === true || idempotentHint === true;
      const announced = context.announce({ server: call.server, tool: call.tool, isRepeatable });
      return announced.then(() => {
        context.signal.throwIfAborted();
        return next.invoke(call, context);
      });
    },
  });
}
