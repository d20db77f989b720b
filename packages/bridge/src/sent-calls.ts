import { abandonOnAbort, callAborted, UNAWAITED_CALL } from "@cem/core";
import type { Middleware } from "./middleware.ts";

/** How long an answer is awaited that the program did not wait for, in milliseconds. */
const LATE_ANSWER_MS = 5_000;

/**
 * Tells calls that were cancelled after they had been sent from those that reached no tool, since a tool may have executed
 * them. Calls that their program left are cancelled at their tools only after 5 s: an answer that comes until then is
 * reported. Put it last, so that what it is passed is sent at once.
 */
export const followSentCalls: Middleware = (next) => ({
  specificationVersion: "v1",
  async invoke(call, context) {
    const { signal, onLateAnswer } = context;
    signal.throwIfAborted();
    const sent = sentCallsOf(signal);
    const answer = next.invoke(call, { ...context, signal: sent.signal });
    sent.follow(answer);
    try {
      return await abandonOnAbort(answer, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
      void answer.then(onLateAnswer, () => {});
      throw callAborted(call, true);
    }
  },
});

/** The calls that were sent with one signal, that of a run. */
type SentCalls = ReturnType<typeof createSentCalls>;

function createSentCalls(run: AbortSignal) {
  const cancelled = new AbortController();
  let unanswered = 0;
  let timer: NodeJS.Timeout | undefined;
  const cancel = (): void => {
    clearTimeout(timer);
    cancelled.abort(run.reason);
  };
  const end = (): void => {
    const isLeft = (run.reason as Partial<Error> | undefined)?.name === UNAWAITED_CALL;
    if (unanswered === 0 || !isLeft) cancel();
    else timer = setTimeout(cancel, LATE_ANSWER_MS).unref();
  };
  run.addEventListener("abort", end, { once: true });
  return {
    /** Aborts with the run, or later while answers are awaited. */
    signal: cancelled.signal,
    follow(answer: Promise<unknown>) {
      unanswered += 1;
      const settle = (): void => {
        unanswered -= 1;
        if (unanswered === 0 && run.aborted) cancel();
      };
      answer.then(settle, settle);
    },
  };
}

const bySignal = new WeakMap<AbortSignal, SentCalls>();

function sentCallsOf(signal: AbortSignal): SentCalls {
  let calls = bySignal.get(signal);
  if (calls === undefined) bySignal.set(signal, (calls = createSentCalls(signal)));
  return calls;
}
