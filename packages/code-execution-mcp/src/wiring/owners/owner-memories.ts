import type { Redactor } from "@cem/core";
import { scopeRedactor } from "../privacy/scoped-redactor.ts";
import type { ScopedRedactor } from "../privacy/scoped-redactor.ts";

/** As many as a redactor keeps sessions. */
const MAX_OWNERS = 10_000;

/** The values behind the tokens of one owner, which outlive its agent. */
export interface OwnerMemory {
  id: string;
  /** With the values behind the owner's tokens. */
  redactor: ScopedRedactor | undefined;
  isThere: () => Promise<boolean>;
}

/**
 * Memory of owners that outlives their agents within a process: the values behind their tokens. A new owner with
 * the id of a deleted one gets none of it.
 */
export class OwnerMemories {
  readonly #redactor: Redactor | undefined;
  readonly #onGone: (id: string) => void;
  readonly #memories = new Map<string, OwnerMemory>();

  /**
   * @param redactor - That of all owners.
   * @param onGone - Called with the id of a deleted owner.
   */
  constructor(redactor: Redactor | undefined, onGone: (id: string) => void) {
    this.#redactor = redactor;
    this.#onGone = onGone;
  }

  /**
   * Returns the memory of an owner; creates it where there is none.
   *
   * @param isThere - Whether the owner was not deleted from now on.
   */
  async open(id: string, isThere: () => Promise<boolean>): Promise<OwnerMemory> {
    const known = this.#memories.get(id);
    if (known !== undefined && (await known.isThere())) return known;
    await this.forget(known);
    const [oldest] = this.#memories.keys();
    if (this.#memories.size >= MAX_OWNERS && oldest !== undefined) this.#memories.delete(oldest);
    const redactor = this.#redactor && scopeRedactor(this.#redactor, id);
    const memory = { id, redactor, isThere };
    this.#memories.set(id, memory);
    return memory;
  }

  /** Memory of an owner. `undefined` where there is none. */
  of(id: string): OwnerMemory | undefined {
    return this.#memories.get(id);
  }

  /** Forgets an owner who was deleted, and nothing of one who came with the same id since. */
  async forget(memory: OwnerMemory | undefined): Promise<void> {
    if (memory === undefined) return;
    const { id, redactor } = memory;
    if (this.#memories.get(id) === memory) {
      this.#memories.delete(id);
      this.#onGone(id);
    }
    await redactor?.forget();
  }
}
