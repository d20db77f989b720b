import { createHmac, randomBytes } from "node:crypto";
import type { AuditLog } from "../audit.ts";

const KEY_BYTES = 32;

/** Random keys, in memory only. Each owner has an audit log of its own, unless the caller gives one log for all. */
const keys = new WeakMap<AuditLog, Buffer>();

/**
 * Computes the HMAC-SHA-256 of a text for an audit log, in hexadecimal. An unkeyed digest of a short value, such as the
 * number of a person, can be guessed within seconds.
 */
export function auditDigest(audit: AuditLog, text: string): string {
  let key = keys.get(audit);
  if (key === undefined) keys.set(audit, (key = randomBytes(KEY_BYTES)));
  return createHmac("sha256", key).update(text).digest("hex");
}
