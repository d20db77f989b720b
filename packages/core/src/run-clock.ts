/** A longer timer would end at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** A timeout in which the time does not count while a person is asked, but for what the program computes meanwhile. */
export function createRunClock(timeoutMs: number, onExpired: () => void) {
  let leftMs = timeoutMs;
  let waiting = 0;
  let startedAt = 0;
  /** Before the last start. */
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

  /** Stands still from now on. @returns how long it ran since its last start. */
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
    /** Stands still while it was called with `true` more often than with `false`: several calls may wait for a person. */
    setWaiting: (isWaiting: boolean): void => {
      waiting += isWaiting ? 1 : -1;
      if (!isWaiting && waiting === 0) start();
      if (isWaiting && waiting === 1) leftMs = Math.max(0, leftMs - halt());
    },
    /** Counts processor time of a program while a person is asked. */
    charge(ms: number): void {
      if (waiting === 0 || isStopped) return;
      pastMs += ms;
      leftMs = Math.max(0, leftMs - ms);
      if (leftMs === 0) onExpired();
    },
    /** Lets it run for so long from now on. */
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
