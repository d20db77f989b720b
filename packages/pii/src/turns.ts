/** How long work goes on before others have the thread, in milliseconds. */
const TURN_MS = 8;

/** Divides long work into turns of the event loop. */
export class Turns {
  #until = performance.now() + TURN_MS;

  /** Resolves when the work may go on. `undefined` while its turn is not over. */
  next(): Promise<void> | undefined {
    return performance.now() < this.#until ? undefined : this.#wait();
  }

  async #wait(): Promise<void> {
    await new Promise<void>((resolve) => {
      // Where there is no such function, as in a browser, timers give others their turn too.
      if (typeof setImmediate === "function") setImmediate(resolve);
      else setTimeout(resolve);
    });
    this.#until = performance.now() + TURN_MS;
  }
}
