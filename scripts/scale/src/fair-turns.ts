/** Turns as `@cem/queue` takes them in Redis, without Redis; a test holds one against the other. */
export class FairTurns {
  #stands = 0;
  readonly #last = new Map<number, number>();

  /** @returns the turn of a customer's next run: the lowest is served first. */
  take(customer: number, cost: number): number {
    const turn = Math.max(this.#stands, this.#last.get(customer) ?? 0);
    this.#last.set(customer, turn + cost);
    return turn;
  }

  /** How many runs of a customer wait, about, at this cost each. */
  waitingOf(customer: number, cost: number): number {
    return Math.ceil(Math.max(0, (this.#last.get(customer) ?? 0) - this.#stands) / cost);
  }

  serve(turn: number): void {
    this.#stands = Math.max(this.#stands, turn);
  }
}
