import type { JsonObject, JsonValue } from "@cem/core";

/** Whether a value is an object and no array. */
export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
