/** A clock for one call that can be stopped while a person is being waited for. */
export interface Deadline {
  /** Aborts when the time is up, or when the caller's signal does. */
  readonly signal: AbortSignal;
  /** Whether it was the clock that ended the call. */
  readonly expired: boolean;
  pause(): void;
  resume(): void;
  /** Gives the call its whole time again. */
  restart(): void;
  dispose(): void;
}

/** Starts a clock of `timeoutMs`; `restart` can stretch it to at most `maxTotalMs` in all. */
export function createDeadline(timeoutMs: number, maxTotalMs: number, outer: AbortSignal): Deadline {
  const controller = new AbortController();
  let expired = false;
  let isDisposed = false;
  let paused = 0;
  let leftMs = timeoutMs;
  let totalMs = 0;
  let startedAt = performance.now();
  let timer: NodeJS.Timeout | undefined;

  const expire = (): void => {
    expired = true;
    controller.abort(new DOMException("The time is up.", "TimeoutError"));
  };
  const start = (): void => {
    // A question may be given up only after its call has ended.
    if (isDisposed) return;
    startedAt = performance.now();
    timer = setTimeout(expire, leftMs);
  };
  const stop = (): void => {
    clearTimeout(timer);
    const ranMs = performance.now() - startedAt;
    leftMs = Math.max(0, leftMs - ranMs);
    totalMs += ranMs;
  };
  const onOuterAbort = (): void => controller.abort(outer.reason);
  if (outer.aborted) onOuterAbort();
  else outer.addEventListener("abort", onOuterAbort, { once: true });
  start();

  return {
    signal: controller.signal,
    get expired() {
      return expired;
    },
    pause() {
      paused += 1;
      if (paused === 1) stop();
    },
    resume() {
      paused -= 1;
      if (paused === 0) start();
    },
    restart() {
      if (paused > 0) {
        leftMs = timeoutMs;
        return;
      }
      stop();
      leftMs = Math.min(timeoutMs, Math.max(0, maxTotalMs - totalMs));
      start();
    },
    dispose() {
      isDisposed = true;
      clearTimeout(timer);
      outer.removeEventListener("abort", onOuterAbort);
    },
  };
}
