import { createRunClock } from "@cem/core";

/** The timeout of one call. It can be paused, for instance while a person is asked, and restarted on progress. */
export interface Deadline {
  /** Aborts when the timeout expires (with a `TimeoutError`) or the outer signal aborts (with that signal's reason). */
  readonly signal: AbortSignal;
  /** Whether the timeout expired, as opposed to an abort of the outer signal. */
  readonly expired: boolean;
  /** Stops the clock. Pauses nest: the clock resumes after the same number of {@link resume} calls. */
  pause(): void;
  /** Ends one pause. */
  resume(): void;
  /** Restarts the full timeout, within the total. */
  restart(): void;
  /** Stops the clock for good and removes the listener from the outer signal. */
  dispose(): void;
}

/**
 * Starts a timeout. Call `dispose()` when the call has ended.
 *
 * @param timeoutMs - Time until it expires, in milliseconds, without pauses.
 * @param maxTotalMs - Time until it expires regardless of restarts, in milliseconds, without pauses.
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
  const expire = (): void => {
    if (controller.signal.aborted) return;
    expired = true;
    controller.abort(reason ?? new DOMException("The timeout expired.", "TimeoutError"));
  };
  const onOuterAbort = (): void => controller.abort(reason ?? outer.reason);
  if (outer.aborted) onOuterAbort();
  else outer.addEventListener("abort", onOuterAbort, { once: true });
  const clock = createRunClock(timeoutMs, expire);
  clock.start();

  return {
    signal: controller.signal,
    get expired() {
      return expired;
    },
    pause: () => clock.setWaiting(true),
    resume: () => clock.setWaiting(false),
    restart: () => clock.restart(Math.min(timeoutMs, Math.max(0, maxTotalMs - clock.spentMs))),
    dispose() {
      clock.stop();
      outer.removeEventListener("abort", onOuterAbort);
    },
  };
}
