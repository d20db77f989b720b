import type { Redactor } from "@cem/core";
import { scopeRedactor, type ScopedRedactor } from "../privacy/scoped-redactor.ts";

/** The same number as the sessions of a redactor. */
const MAX_OWNERS = 10_000;

/** The values behind the tokens of one owner, which outlive its agent. */
export interface CustomerMemory {
  id: string;
  /** Holds the values behind the owner's tokens. */
  redactor: ScopedRedactor | undefined;
  isThere: () => Promise<boolean>;
}

/**
 * Keeps the values behind owners' tokens after their agents are disposed, for the life of the process. A new owner with the
 * id of a deleted one does not inherit them.
 *
 * @param shared - The redactor of all owners.
 * @param onGone - Called with the id of a deleted owner.
 */
export function createCustomerMemories(shared: Redactor | undefined, onGone: (id: string) => void) {
  const memories = new Map<string, CustomerMemory>();

  /** Forgets a deleted owner, but not a newer owner with the same id. */
  async function forget(memory: CustomerMemory | undefined): Promise<void> {
    if (memory === undefined) return;
    const { id, redactor } = memory;
    if (memories.get(id) === memory) {
      memories.delete(id);
      onGone(id);
    }
    await redactor?.forget();
  }

  return {
    /** @param isThere - Whether the owner was not deleted from now on. */
    async open(id: string, isThere: () => Promise<boolean>): Promise<CustomerMemory> {
      const known = memories.get(id);
      if (known !== undefined && (await known.isThere())) return known;
      await forget(known);
      const [oldest] = memories.keys();
      if (memories.size >= MAX_OWNERS && oldest !== undefined) memories.delete(oldest);
      const redactor = shared && scopeRedactor(shared, id);
      const memory = { id, redactor, isThere };
      memories.set(id, memory);
      return memory;
    },
    of: (id: string) => memories.get(id),
    forget,
  };
}
