/** Ends something after a time in which the waiting for persons does not count. */
export class PausableTimer {
  readonly #onEnd: () => void;
  #leftMs: number;
  #since = 0;
  #pauses = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(ms: number, onEnd: () => void) {
    this.#leftMs = ms;
    this.#onEnd = onEnd;
    this.#start();
  }

  /** Stops the clock while it is called with `true` more often than with `false`. */
  readonly setWaiting = (waiting: boolean): void => {
    this.#pauses += waiting ? 1 : -1;
    if (waiting && this.#pauses === 1) this.#stop();
    if (!waiting && this.#pauses === 0) this.#start();
  };

  clear(): void {
    clearTimeout(this.#timer);
    this.#pauses = Infinity;
  }

  #start(): void {
    this.#since = performance.now();
    // A longer one would end at once.
    this.#timer = setTimeout(this.#onEnd, Math.min(this.#leftMs, 2 ** 31 - 1));
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#leftMs = Math.max(0, this.#leftMs - (performance.now() - this.#since));
  }
}
