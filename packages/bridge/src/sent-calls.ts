import { abandonOnAbort, callAborted, UNAWAITED_CALL } from "@cem/core";
import type { Middleware } from "./middleware.ts";

/** How long to wait for an answer that the program did not await, in milliseconds. */
const LATE_ANSWER_MS = 5_000;

/**
 * Distinguishes calls that were cancelled after they had been sent, which a tool may have executed, from those that reached
 * no tool. Calls that their program did not await are cancelled only after 5 s; an answer until then is reported. Put it
 * last, so that calls it receives are sent immediately.
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

/** The calls that were sent with the signal of one run. */
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
