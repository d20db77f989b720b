/** The maximum delay of a timer in milliseconds: a longer one would fire at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** A timeout that pauses while a person is asked, except for the processor time that the program uses meanwhile. */
export function createRunClock(timeoutMs: number, onExpired: () => void) {
  let leftMs = timeoutMs;
  let waiting = 0;
  let startedAt = 0;
  /** Time that it ran before the last start. */
  let pastMs = 0;
  let isRunning = false;
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;

  function start(): void {
    if (isStopped) return;
    startedAt = performance.now();
    isRunning = true;
    timer = setTimeout(onExpired, Math.min(leftMs, MAX_TIMER_MS));
  }

  /** Pauses the clock. @returns how long it ran since its last start. */
  function halt(): number {
    clearTimeout(timer);
    if (!isRunning) return 0;
    const ranMs = performance.now() - startedAt;
    isRunning = false;
    pastMs += ranMs;
    return ranMs;
  }

  return {
    start,
    /** Pauses the clock while it was called with `true` more often than with `false`: several calls may wait for a person. */
    setWaiting: (isWaiting: boolean): void => {
      waiting += isWaiting ? 1 : -1;
      if (!isWaiting && waiting === 0) start();
      if (isWaiting && waiting === 1) leftMs = Math.max(0, leftMs - halt());
    },
    /** Charges processor time that a program used while a person was asked. */
    charge(ms: number): void {
      if (waiting === 0 || isStopped) return;
      pastMs += ms;
      leftMs = Math.max(0, leftMs - ms);
      if (leftMs === 0) onExpired();
    },
    /** Restarts the clock with this timeout. */
    restart(ms: number): void {
      const wasRunning = isRunning;
      halt();
      leftMs = ms;
      if (wasRunning) start();
    },
    /** Stops it for good. */
    stop(): void {
      isStopped = true;
      halt();
    },
    /** How long it has run, in milliseconds, without pauses. */
    get spentMs(): number {
      return pastMs + (isRunning ? performance.now() - startedAt : 0);
    },
  };
}
