import { availableParallelism } from "node:os";

const MIN_AT_ONCE = 4;

/** Lets only some calls of each session go on at once: each has a process, with all the memory that a run may use. */
export class CallSlots {
  readonly #atOnce = Math.max(MIN_AT_ONCE, availableParallelism());
  readonly #sessions = new Map<string, { inside: number; waiting: Set<() => void> }>();

  /**
   * Waits for a slot.
   *
   * @returns a function that frees it.
   * @throws the reason of the signal, where it aborts meanwhile.
   */
  async take(session: string, signal: AbortSignal): Promise<() => void> {
    const own = this.#sessions.get(session) ?? { inside: 0, waiting: new Set() };
    this.#sessions.set(session, own);
    if (own.inside >= this.#atOnce) await waitIn(own.waiting, signal);
    else own.inside += 1;
    return () => {
      const [next] = own.waiting;
      if (next !== undefined) {
        own.waiting.delete(next);
        return next();
      }
      own.inside -= 1;
      if (own.inside === 0) this.#sessions.delete(session);
    };
  }
}

async function waitIn(waiting: Set<() => void>, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const leave = (): void => {
    waiting.delete(resolve);
    reject(signal.reason as Error);
  };
  signal.addEventListener("abort", leave, { once: true });
  waiting.add(resolve);
  if (signal.aborted) leave();
  try {
    await promise;
  } finally {
    signal.removeEventListener("abort", leave);
  }
}
