interface Waiting {
  enter(): void;
}

/**
 * Lets a bounded number of runs in at once. Those that wait are let in by turns of their keys, first come first
 * served within a key, so one busy sandbox can't starve the others.
 */
export class FairGate {
  readonly #capacity: number;
  readonly #queues = new Map<unknown, Waiting[]>();
  #inside = 0;
  #waiting = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get inside(): number {
    return this.#inside;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** Resolves with the way out once there is room. Rejects with the signal's reason when that aborts first. */
  enter(key: unknown, signal?: AbortSignal): Promise<() => void> {
    if (signal?.aborted === true) return Promise.reject(signal.reason as Error);
    if (this.#inside < this.#capacity) {
      this.#inside += 1;
      return Promise.resolve(this.#release());
    }
    return new Promise((resolve, reject) => {
      const abort = () => {
        this.#forget(key, waiting);
        reject(signal?.reason as Error);
      };
      const waiting: Waiting = {
        enter: () => {
          signal?.removeEventListener("abort", abort);
          resolve(this.#release());
        },
      };
      signal?.addEventListener("abort", abort, { once: true });
      const queue = this.#queues.get(key);
      if (queue === undefined) this.#queues.set(key, [waiting]);
      else queue.push(waiting);
      this.#waiting += 1;
    });
  }

  #release(): () => void {
    let left = false;
    return () => {
      if (left) return;
      left = true;
      const next = this.#next();
      if (next === undefined) this.#inside -= 1;
      else next.enter();
    };
  }

  /** Takes the first of the key whose turn it is, and sends that key to the back. */
  #next(): Waiting | undefined {
    for (const [key, queue] of this.#queues) {
      const next = queue.shift();
      this.#queues.delete(key);
      if (queue.length > 0) this.#queues.set(key, queue);
      if (next === undefined) continue;
      this.#waiting -= 1;
      return next;
    }
    return undefined;
  }

  #forget(key: unknown, waiting: Waiting): void {
    const queue = this.#queues.get(key);
    const index = queue?.indexOf(waiting) ?? -1;
    if (queue === undefined || index === -1) return;
    queue.splice(index, 1);
    this.#waiting -= 1;
    if (queue.length === 0) this.#queues.delete(key);
  }
}
