/**
 * Waits for a promise until a signal aborts. The work behind the promise is not stopped; its result is dropped.
 *
 * @param work - The promise to wait for. To stop its work as well, pass the same signal there.
 * @param signal - Absent: the wait is never abandoned.
 * @returns the value that `work` resolves to.
 * @throws the reason that `work` rejects with, or the signal's reason as soon as it aborts.
 */
export function abandonOnAbort<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason);
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  // A failure after the abort has no effect and counts as handled.
  return Promise.race([aborted, work]).finally(() => signal.removeEventListener("abort", onAbort));
}

/**
 * Calls a listener, whose errors must not affect the caller. Does not wait for an asynchronous one.
 *
 * @param warn - Receives what it throws or rejects with.
 */
export function callListener(listener: () => unknown, warn: (error: unknown) => void): void {
  try {
    Promise.resolve(listener()).catch(warn);
  } catch (error) {
    warn(error);
  }
}

/** Name of the abort reason of calls that were still unanswered when their program ended. */
export const UNAWAITED_CALL = "UnawaitedCallError";

/** A value that is created at its first use. A failed creation is forgotten, so that the next use tries again. */
export class Lazy<T> {
  readonly #create: () => Promise<T>;
  #pending: Promise<T> | undefined;
  #current: T | undefined;

  constructor(create: () => Promise<T>) {
    this.#create = create;
  }

  /** Whether the value has been created, or is being created. */
  get isStarted(): boolean {
    return this.#pending !== undefined;
  }

  /** The value, once it has been created. */
  get current(): T | undefined {
    return this.#current;
  }

  /**
   * Returns the value; creates it first if necessary. Concurrent calls share one creation.
   *
   * @throws whatever the creation throws.
   */
  get(): Promise<T> {
    this.#pending ??= this.#attempt();
    return this.#pending;
  }

  /** Waits for a creation under way. Starts none: resolves to `undefined` when there is no value. */
  async settled(): Promise<T | undefined> {
    await this.#pending?.catch(() => undefined);
    return this.#current;
  }

  async #attempt(): Promise<T> {
    try {
      return (this.#current = await this.#create());
    } catch (error) {
      this.#pending = undefined;
      throw error;
    }
  }
}
