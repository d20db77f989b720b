import { AsyncLocalStorage } from "node:async_hooks";

const owners = new AsyncLocalStorage<string>();

/** Does what one customer asked for, so that {@link currentOwner} knows. */
export function asOwner<T>(owner: string, work: () => T): T {
  return owners.run(owner, work);
}

/** The customer that the work under way is for. */
export function currentOwner(): string | undefined {
  return owners.getStore();
}
