/** A run's timeout timer. Pauses nest: it stands still while at least one tool call waits for a person. */
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
    this.#timer = setTimeout(this.#onExpired, this.#leftMs);
  }

  pause(): void {
    this.#waiting += 1;
    if (this.#waiting > 1) return;
    clearTimeout(this.#timer);
    const ranMs = this.#halt();
    this.#leftMs = Math.max(0, this.#leftMs - ranMs);
  }

  resume(): void {
    this.#waiting -= 1;
    if (this.#waiting === 0) this.start();
  }

  /** Stops it for good; later calls of `start` and `resume` do nothing. */
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
