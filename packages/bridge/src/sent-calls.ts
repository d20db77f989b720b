import { abandonOnAbort, callAborted, toErrorInfo, UNAWAITED_CALL } from "@cem/core";
import type { Middleware } from "./middleware.ts";
import type { CheckedCall } from "./tool-source.ts";

/** How long to wait for the answer to a call that its program left, in milliseconds. */
const LATE_ANSWER_MS = 5_000;

/**
 * Distinguishes calls that were cancelled after they had been sent, which a tool may have executed, from those that reached
 * no tool. Calls left by their program that may change something are cancelled only after 5 s, so that most have an answer.
 * Put it last, so that calls it receives are sent immediately.
 */
export const followSentCalls: Middleware = (next) => ({
  specificationVersion: "v1",
  async invoke(call: CheckedCall, context) {
    const { signal } = context;
    signal.throwIfAborted();
    const isReading = call.found?.annotations?.readOnlyHint === true;
    const sent = isReading ? undefined : sentCallsOf(signal);
    const toolSignal = sent?.signal ?? signal;
    const answer = next.invoke(call, { ...context, signal: toolSignal });
    const awaited = abandonOnAbort(answer, toolSignal);
    sent?.follow(answer);
    try {
      return await awaited;
    } catch (error) {
      if (!signal.aborted) throw error;
      if (error === signal.reason) throw callAborted(call, isReading ? "read" : "write");
      // Thrown, it would count as the end of the run.
      return { ok: false, error: toErrorInfo(error) };
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
