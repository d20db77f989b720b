/** A longer timer would end at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** A timeout in which the time does not count while a person is asked, but for what the program computes meanwhile. */
export class RunClock {
  readonly #onExpired: () => void;
  #leftMs: number;
  #waiting = 0;
  #startedAt = 0;
  /** Before the last start. */
  #spentMs = 0;
  #isRunning = false;
  #stopped = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(timeoutMs: number, onExpired: () => void) {
    this.#leftMs = timeoutMs;
    this.#onExpired = onExpired;
  }

  start(): void {
    if (this.#stopped) return;
    this.#startedAt = performance.now();
    this.#isRunning = true;
    this.#timer = setTimeout(this.#onExpired, Math.min(this.#leftMs, MAX_TIMER_MS));
  }

  /** Stands still while it was called with `true` more often than with `false`: several calls may wait for a person. */
  readonly setWaiting = (isWaiting: boolean): void => {
    this.#waiting += isWaiting ? 1 : -1;
    if (!isWaiting && this.#waiting === 0) this.start();
    if (!isWaiting || this.#waiting > 1) return;
    clearTimeout(this.#timer);
    this.#leftMs = Math.max(0, this.#leftMs - this.#halt());
  };

  /** Counts processor time of a program while a person is asked. */
  charge(ms: number): void {
    if (this.#waiting === 0 || this.#stopped) return;
    this.#spentMs += ms;
    this.#leftMs = Math.max(0, this.#leftMs - ms);
    if (this.#leftMs === 0) this.#onExpired();
  }

  /** Lets it run for so long from now on. */
  restart(leftMs: number): void {
    const isRunning = this.#isRunning;
    clearTimeout(this.#timer);
    this.#halt();
    this.#leftMs = leftMs;
    if (isRunning) this.start();
  }

  /** Stops it for good. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#halt();
  }

  /** How long it has run, in milliseconds, without pauses. */
  get spentMs(): number {
    return this.#spentMs + (this.#isRunning ? performance.now() - this.#startedAt : 0);
  }

  /** Stands still from now on. @returns how long it ran since its last start. */
  #halt(): number {
    if (!this.#isRunning) return 0;
    const ranMs = performance.now() - this.#startedAt;
    this.#isRunning = false;
    this.#spentMs += ranMs;
    return ranMs;
  }
}
