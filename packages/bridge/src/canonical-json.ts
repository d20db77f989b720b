import type { JsonValue } from "@cem/core";

/** JSON text that is the same for equal values, whatever the order of their keys. */
export function canonicalJson(value: JsonValue): string {
  return JSON.stringify(value, (_key, inner: unknown) => {
    if (typeof inner !== "object" || inner === null || Array.isArray(inner)) return inner;
    return Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  });
}
