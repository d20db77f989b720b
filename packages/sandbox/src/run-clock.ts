/** A run's timeout timer. Pauses nest: it stands still while at least one tool call waits for a person. */
export class RunClock {
  readonly #onExpired: () => void;
  #leftMs: number;
  #waiting = 0;
  #startedAt = 0;
  #stopped = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(timeoutMs: number, onExpired: () => void) {
    this.#leftMs = timeoutMs;
    this.#onExpired = onExpired;
  }

  start(): void {
    if (this.#stopped) return;
    this.#startedAt = performance.now();
    this.#timer = setTimeout(this.#onExpired, this.#leftMs);
  }

  pause(): void {
    this.#waiting += 1;
    if (this.#waiting > 1) return;
    clearTimeout(this.#timer);
    this.#leftMs = Math.max(0, this.#leftMs - (performance.now() - this.#startedAt));
  }

  resume(): void {
    this.#waiting -= 1;
    if (this.#waiting === 0) this.start();
  }

  /** Stops it for good; later calls of `start` and `resume` do nothing. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }
}
