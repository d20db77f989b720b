/** The timeout of one call. It can be paused, for instance while a person is asked, and restarted on progress. */
export interface Deadline {
  /** Aborts when the timeout expires (with a `TimeoutError`) or the outer signal aborts (with that signal's reason). */
  readonly signal: AbortSignal;
  /** Whether the timeout expired, as opposed to an abort of the outer signal. */
  readonly expired: boolean;
  /** Stops the clock. Pauses nest: the clock runs again after as many calls of {@link resume}. */
  pause(): void;
  /** Ends one pause. */
  resume(): void;
  /** Grants the full timeout again, within the total. */
  restart(): void;
  /** Stops the clock for good and removes the listener from the outer signal. */
  dispose(): void;
}

/**
 * Starts a timeout. Call `dispose()` when the call has ended.
 *
 * @param timeoutMs - Time until it expires, in milliseconds, without pauses.
 * @param maxTotalMs - Time until it expires however often it is restarted, in milliseconds, without pauses.
 * @param outer - The signal of the caller.
 * @param reason - The reason of the deadline's signal, whoever aborted it. Absent: a `TimeoutError`, or that of the caller.
 *
 * @example
 * ```ts
 * const deadline = createDeadline(60_000, 300_000, signal);
 * try {
 *   return await abandonOnAbort(request(deadline.signal), deadline.signal);
 * } catch (error) {
 *   throw deadline.expired ? new CemError("TOOL_TIMEOUT", "No answer within 60 s.") : error;
 * } finally {
 *   deadline.dispose();
 * }
 * ```
 */
export function createDeadline(
  timeoutMs: number,
  maxTotalMs: number,
  outer: AbortSignal,
  reason?: string,
): Deadline {
  const controller = new AbortController();
  let expired = false;
  let isDisposed = false;
  let pauses = 0;
  let leftMs = timeoutMs;
  let totalMs = 0;
  let startedAt = 0;
  let timer: NodeJS.Timeout | undefined;

  const expire = (): void => {
    if (controller.signal.aborted) return;
    expired = true;
    controller.abort(reason ?? new DOMException("The timeout expired.", "TimeoutError"));
  };
  const startClock = (): void => {
    // A pause may end after the call it belongs to.
    if (isDisposed) return;
    startedAt = performance.now();
    timer = setTimeout(expire, leftMs);
  };
  const stopClock = (): void => {
    clearTimeout(timer);
    const ranMs = performance.now() - startedAt;
    leftMs = Math.max(0, leftMs - ranMs);
    totalMs += ranMs;
  };
  const onOuterAbort = (): void => controller.abort(reason ?? outer.reason);
  if (outer.aborted) onOuterAbort();
  else outer.addEventListener("abort", onOuterAbort, { once: true });
  startClock();

  return {
    signal: controller.signal,
    get expired() {
      return expired;
    },
    pause() {
      pauses += 1;
      if (pauses === 1) stopClock();
    },
    resume() {
      pauses -= 1;
      if (pauses === 0) startClock();
    },
    restart() {
      const isRunning = pauses === 0;
      if (isRunning) stopClock();
      leftMs = Math.min(timeoutMs, Math.max(0, maxTotalMs - totalMs));
      if (isRunning) startClock();
    },
    dispose() {
      isDisposed = true;
      clearTimeout(timer);
      outer.removeEventListener("abort", onOuterAbort);
    },
  };
}
