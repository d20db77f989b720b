import type { Redactor } from "@cem/core";
import { scopeToCustomer } from "./customer-redactor.ts";
import type { CustomerRedactor } from "./customer-redactor.ts";

/** As many as a redactor keeps sessions. */
const MAX_CUSTOMERS = 10_000;

/** What is remembered of one customer. */
export interface CustomerMemory {
  id: string;
  /** With the values behind the customer's tokens. */
  redactor: CustomerRedactor | undefined;
  isThere: () => Promise<boolean>;
}

/**
 * What a process remembers of customers after their agents were let go: the values behind their tokens. Another customer
 * who comes with the id of one who was deleted meets none of it.
 */
export class CustomerMemories {
  readonly #redactor: Redactor | undefined;
  readonly #onGone: (id: string) => void;
  readonly #memories = new Map<string, CustomerMemory>();

  /**
   * @param redactor - That of all customers.
   * @param onGone - Is told of a customer who was deleted.
   */
  constructor(redactor: Redactor | undefined, onGone: (id: string) => void) {
    this.#redactor = redactor;
    this.#onGone = onGone;
  }

  /**
   * What is remembered of a customer, or the beginning of it.
   *
   * @param isThere - Whether the customer was not deleted from now on.
   */
  async open(id: string, isThere: () => Promise<boolean>): Promise<CustomerMemory> {
    const known = this.#memories.get(id);
    if (known !== undefined && (await known.isThere())) return known;
    await this.forget(known);
    const [oldest] = this.#memories.keys();
    if (this.#memories.size >= MAX_CUSTOMERS && oldest !== undefined) this.#memories.delete(oldest);
    const redactor = this.#redactor && scopeToCustomer(this.#redactor, id);
    const memory = { id, redactor, isThere };
    this.#memories.set(id, memory);
    return memory;
  }

  /** What is remembered of a customer now. */
  of(id: string): CustomerMemory | undefined {
    return this.#memories.get(id);
  }

  /** Forgets a customer who was deleted, and nothing of one who came with the same id since. */
  async forget(memory: CustomerMemory | undefined): Promise<void> {
    if (memory === undefined) return;
    const { id, redactor } = memory;
    if (this.#memories.get(id) === memory) {
      this.#memories.delete(id);
      this.#onGone(id);
    }
    await redactor?.forget();
  }
}
