/**
 * Waits for a promise until a signal aborts. The work behind the promise is not stopped; its result is dropped.
 *
 * @param work - The promise to wait for. To stop its work as well, pass the same signal there.
 * @param signal - Absent: the wait is never abandoned.
 * @returns the value that `work` resolves to.
 * @throws the reason that `work` rejects with, or the signal's reason as soon as it aborts.
 */
export async function abandonOnAbort<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  if (signal.aborted) {
    // Its own failure, which nobody waits for any more, must not count as unhandled.
    work.catch(() => {});
    throw signal.reason;
  }
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason as Error);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** Name of the reason with which the signals of calls abort that their program left without an answer. */
export const UNAWAITED_CALL = "UnawaitedCallError";

/**
 * A signal that aborts with another and for a reason of its own. The protocol sends reasons to the other side, which is not
 * to read why somebody else gave up.
 */
export function withReason(signal: AbortSignal, reason: string): AbortSignal {
  const controller = new AbortController();
  const abort = (): void => controller.abort(reason);
  if (signal.aborted) abort();
  else signal.addEventListener("abort", abort, { once: true });
  return controller.signal;
}
