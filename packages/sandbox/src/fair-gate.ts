interface Waiting {
  enter(): void;
}

/**
 * A fair semaphore: at most `capacity` holders at once. Waiting callers are admitted round-robin by key, and first come
 * first served within a key, so that one busy key can't starve the others.
 */
export class FairGate {
  readonly #capacity: number;
  readonly #queues = new Map<unknown, Waiting[]>();
  #inside = 0;
  #waiting = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Number of callers that hold a slot. */
  get inside(): number {
    return this.#inside;
  }

  /** Number of callers that wait for a slot. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Takes a slot that is free; `undefined` when there is none. */
  tryEnter(): (() => void) | undefined {
    if (this.#inside >= this.#capacity) return undefined;
    this.#inside += 1;
    return this.#release();
  }

  /**
   * Waits for a slot.
   *
   * @param key - Groups callers that take turns with callers of other keys.
   * @returns The function that frees the slot; further calls of it do nothing.
   * @throws The signal's reason when it aborts before a slot is free.
   */
  enter(key: unknown, signal?: AbortSignal): Promise<() => void> {
    if (signal?.aborted === true) return Promise.reject(signal.reason as Error);
    const entered = this.tryEnter();
    if (entered !== undefined) return Promise.resolve(entered);
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

  /** Dequeues the first caller of the key whose turn it is, and moves that key to the back. */
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
