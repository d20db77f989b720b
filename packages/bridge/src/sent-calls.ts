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
class SentCalls {
  readonly #run: AbortSignal;
  readonly #cancelled = new AbortController();
  #unanswered = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(run: AbortSignal) {
    this.#run = run;
    run.addEventListener("abort", () => this.#end(), { once: true });
  }

  /** Aborts with the run, or later while answers are awaited. */
  get signal(): AbortSignal {
    return this.#cancelled.signal;
  }

  follow(answer: Promise<unknown>): void {
    this.#unanswered += 1;
    const settle = (): void => {
      this.#unanswered -= 1;
      if (this.#unanswered === 0 && this.#run.aborted) this.#cancel();
    };
    answer.then(settle, settle);
  }

  #end(): void {
    const isLeft = (this.#run.reason as Partial<Error> | undefined)?.name === UNAWAITED_CALL;
    if (this.#unanswered === 0 || !isLeft) this.#cancel();
    else this.#timer = setTimeout(() => this.#cancel(), LATE_ANSWER_MS).unref();
  }

  #cancel(): void {
    clearTimeout(this.#timer);
    this.#cancelled.abort(this.#run.reason);
  }
}

const bySignal = new WeakMap<AbortSignal, SentCalls>();

function sentCallsOf(signal: AbortSignal): SentCalls {
  let calls = bySignal.get(signal);
  if (calls === undefined) bySignal.set(signal, (calls = new SentCalls(signal)));
  return calls;
}
