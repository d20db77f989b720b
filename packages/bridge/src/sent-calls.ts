import { abandonOnAbort, callAborted, UNAWAITED_CALL } from "@cem/core";
import type { Middleware } from "./middleware.ts";

/** How long an answer is awaited that the program did not wait for, in milliseconds. */
const LATE_ANSWER_MS = 5_000;

/**
 * Tells calls that were cancelled after they had been sent from those that reached no tool, since a tool may have executed
 * them. A call that its program left is cancelled at its tool only after 5 s: an answer that comes until then is reported.
 * Put it last, so that what it is passed is sent at once.
 */
export const followSentCalls: Middleware = (next) => ({
  specificationVersion: "v1",
  async invoke(call, context) {
    const { signal, onLateAnswer } = context;
    signal.throwIfAborted();
    const sent = new AbortController();
    const cancel = (): void => sent.abort(signal.reason);
    const onAbort = (): void => {
      if ((signal.reason as Partial<Error> | undefined)?.name !== UNAWAITED_CALL) return cancel();
      const timer = setTimeout(cancel, LATE_ANSWER_MS).unref();
      void answer
        .then((late) => onLateAnswer?.(late))
        .catch(() => {})
        .finally(() => clearTimeout(timer));
    };
    signal.addEventListener("abort", onAbort, { once: true });
    const answer = next.invoke(call, { ...context, signal: sent.signal });
    try {
      return await abandonOnAbort(answer, signal);
    } catch (error) {
      throw signal.aborted ? callAborted(call, true) : error;
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  },
});
