import { createHmac, generateKeySync, hash, type KeyObject } from "node:crypto";
import type { AuditLog } from "../audit.ts";

const KEY_BITS = 256;

/** Random keys, in memory only. Each owner has an audit log of its own, unless the caller gives one log for all. */
const keys = new WeakMap<AuditLog, KeyObject>();

/** Computes the HMAC-SHA-256 of a text, in hexadecimal. Unkeyed, that of a short value could be guessed in seconds. */
export function auditDigest(audit: AuditLog, text: string): string {
  let key = keys.get(audit);
  if (key === undefined) keys.set(audit, (key = generateKeySync("hmac", { length: KEY_BITS })));
  return createHmac("sha256", key).update(text).digest("hex");
}

const CUSTOMER_DIGITS = 16;

/**
 * Pseudonym of a customer in logs, which outlive the customer. Unkeyed, so that anyone who knows the id finds its
 * lines.
 *
 * @param key - `customer ` and the id.
 */
export function customerDigest(key: string): string {
  return hash("sha256", key).slice(0, CUSTOMER_DIGITS);
}
