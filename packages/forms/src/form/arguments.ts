import type { JsonObject, JsonValue } from "@cem/core";
import type { FormField } from "./form-schema.ts";

/** Sets the argument that a field fills, `contact.email` in objects. @returns false when a field already fills it or a part of it. */
export function placeArgument(args: JsonObject, { name, locate }: FormField, value: JsonValue): boolean {
  const parts = (locate?.name ?? name).split(".");
  const last = parts.pop() ?? name;
  let at = args;
  for (const part of parts) {
    if (!Object.hasOwn(at, part)) set(at, part, {});
    const inner = at[part];
    if (typeof inner !== "object" || inner === null || Array.isArray(inner)) return false;
    at = inner;
  }
  if (Object.hasOwn(at, last)) return false;
  set(at, last, value);
  return true;
}

function set(at: JsonObject, key: string, value: JsonValue): void {
  Object.defineProperty(at, key, { value, enumerable: true, configurable: true, writable: true });
}
