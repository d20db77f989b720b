import type { StoreKey } from "@cem/core";

/** All that a store has of a customer is below this key, so that it can be removed at once. */
export function keyOfCustomer(id: string, ...parts: string[]): StoreKey {
  return ["customers", id, ...parts];
}
