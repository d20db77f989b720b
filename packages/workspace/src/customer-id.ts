import { hash } from "node:crypto";
import { CemError, CUSTOMER_ID_RULE, isGivenCustomerId } from "@cem/core";

/** Ids that are made from an identity. */
const DERIVED = /^id-[0-9a-f]{32}$/u;
const DERIVED_CHARACTERS = 32;

/**
 * Checks a customer's id.
 *
 * @throws CemError `CUSTOMER_INVALID` for one that can't be the name of a folder, or could be taken for another's.
 */
export function requireCustomerId(id: unknown): string {
  if (isGivenCustomerId(id)) return id;
  throw invalidCustomer(id);
}

/**
 * Derives an id from who somebody is, such as issuer, client and subject of a token. The parts are kept apart, so that no
 * two identities share an id.
 */
export function customerIdOf(identity: readonly string[]): string {
  return `id-${hash("sha256", JSON.stringify(identity), "hex").slice(0, DERIVED_CHARACTERS)}`;
}

/** Whether a name is a customer's id, given or derived. */
export function isCustomerId(name: string): boolean {
  return DERIVED.test(name) || isGivenCustomerId(name);
}

function invalidCustomer(id: unknown): CemError {
  const shown = typeof id === "string" ? JSON.stringify(id.slice(0, 80)) : typeof id;
  return new CemError(
    "CUSTOMER_INVALID",
    `${shown} can't be a customer's id: it needs ${CUSTOMER_ID_RULE}.`,
    {
      details: { customer: typeof id === "string" ? id.slice(0, 80) : typeof id },
    },
  );
}
