/** Turns as `@cem/queue` takes them in Redis, without Redis; a test holds one against the other. */
export class FairTurns {
  #stands = 0;
  readonly #last = new Map<number, number>();

  /** @returns the turn of a customer's next run: the lowest is served first. */
  take(customer: number): number {
    const turn = Math.max(this.#stands, this.#last.get(customer) ?? 0);
    this.#last.set(customer, turn + 1);
    return turn;
  }

  /** How many runs of a customer wait, about. */
  waitingOf(customer: number): number {
    return Math.max(0, (this.#last.get(customer) ?? 0) - this.#stands);
  }

  serve(turn: number): void {
    this.#stands = Math.max(this.#stands, turn);
  }
}
