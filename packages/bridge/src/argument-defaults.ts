import { isObject } from "@cem/core";
import type { JsonObject, JsonSchema, JsonValue } from "@cem/core";

/** Deeper objects are left as they are. */
const MAX_DEPTH = 8;

/**
 * Fills in what the schema requires and gives a default for: code may leave it out, as the generated types say.
 *
 * @returns the arguments themselves, where nothing is to be filled in.
 */
export function withDefaults(args: JsonObject, schema: JsonSchema, depth = 0): JsonObject {
  const { properties, required } = schema;
  if (depth === MAX_DEPTH || !isObject(properties)) return args;
  const filled: JsonObject = {};
  for (const [name, property] of Object.entries(properties)) {
    if (!isObject(property)) continue;
    const given = Object.hasOwn(args, name) ? args[name] : undefined;
    if (given === undefined) {
      const isRequired = Array.isArray(required) && required.includes(name);
      const { default: value } = property;
      if (isRequired && value !== undefined) filled[name] = structuredClone<unknown>(value) as JsonValue;
    } else if (isObject(given)) {
      const inner = withDefaults(given, property, depth + 1);
      if (inner !== given) filled[name] = inner;
    }
  }
  return Object.keys(filled).length === 0 ? args : { ...args, ...filled };
}
