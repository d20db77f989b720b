/** How many runs a worker carries out at once: those that it took from the queue, and those that were handed to it. */
export class Slots {
  readonly #waiting = new Set<() => void>();
  #free: number;

  constructor(slots: number) {
    this.#free = slots;
  }

  /** Takes a slot if one is free. */
  tryTake(): boolean {
    if (this.#free === 0) return false;
    this.#free -= 1;
    return true;
  }

  /** Takes a slot, for which it waits so many milliseconds at most. @returns whether it got one. */
  async take(withinMs: number): Promise<boolean> {
    if (this.tryTake()) return true;
    return new Promise((resolve) => {
      const give = (): void => {
        clearTimeout(timer);
        resolve(true);
      };
      const timer = setTimeout(() => {
        this.#waiting.delete(give);
        resolve(false);
      }, withinMs);
      this.#waiting.add(give);
    });
  }

  release(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free += 1;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
