import { createHash } from "node:crypto";
import type { AuditEvent, JsonValue } from "@cem/core";

type AuditedValue = Extract<AuditEvent, { type: "refusal" }>["args"];

/** The most arguments whose types are named. */
const MAX_NAMED_TYPES = 32;

/** Describes a value without giving it away: types, size, digest. */
export function auditedValue(value: JsonValue | undefined): AuditedValue {
  const json = JSON.stringify(value ?? null);
  return {
    types: typesOf(value),
    bytes: Buffer.byteLength(json),
    sha256: createHash("sha256").update(json).digest("hex"),
  };
}

function typesOf(value: JsonValue | undefined): AuditedValue["types"] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return typeOf(value);
  const entries = Object.entries(value).slice(0, MAX_NAMED_TYPES);
  // A name that is no plain word could be a value.
  return Object.fromEntries(
    entries.flatMap(([name, entry]) => (/^[A-Za-z_]\w{0,40}$/.test(name) ? [[name, typeOf(entry)]] : [])),
  );
}

function typeOf(value: JsonValue | undefined): string {
  if (value === null || value === undefined) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}
