/** A queue that serves owners in turn, and the items of each in their order. */
export class FairQueue<Item> {
  /** The owner whose turn is next stands first. */
  readonly #waiting = new Map<string, Set<Item>>();

  countOf(owner: string): number {
    return this.#waiting.get(owner)?.size ?? 0;
  }

  add(owner: string, item: Item): void {
    const own = this.#waiting.get(owner) ?? new Set();
    this.#waiting.set(owner, own.add(item));
  }

  /** Takes out the next item whose owner may have one now. */
  take(mayHave: (owner: string) => boolean): Item | undefined {
    const owner = [...this.#waiting.keys()].find(mayHave);
    const own = owner === undefined ? undefined : this.#waiting.get(owner);
    const item = own?.values().next().value;
    if (owner === undefined || own === undefined || item === undefined) return undefined;
    own.delete(item);
    this.#waiting.delete(owner);
    // Others' turns come first.
    if (own.size > 0) this.#waiting.set(owner, own);
    return item;
  }

  /** Takes an item out of its owner's turn. */
  remove(owner: string, item: Item): void {
    const own = this.#waiting.get(owner);
    if (own?.delete(item) === true && own.size === 0) this.#waiting.delete(owner);
  }
}
