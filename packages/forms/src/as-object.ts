import type { JsonObject, JsonValue } from "@cem/core";

/** A value as an object; an empty one where it is none. */
export function asObject(value: JsonValue | undefined): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}
