/** A value that JSON can represent. */
export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };

/** An object that JSON can represent. */
export type JsonObject = { [key: string]: JsonValue };

/**
 * A JSON Schema, of draft 2020-12 unless `$schema` says otherwise. The type is open because schemas come from external
 * servers: readers use the keywords they know and ignore the rest.
 */
export interface JsonSchema {
  type?: string | string[];
  title?: string;
  description?: string;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  enum?: JsonValue[];
  const?: JsonValue;
  default?: JsonValue;
  examples?: JsonValue[];
  format?: string;
  anyOf?: JsonSchema[];
  additionalProperties?: boolean | JsonSchema;
  [keyword: string]: unknown;
}

/** Whether a value is an object, and neither `null` nor an array. */
export function isObject<Value = unknown>(value: unknown): value is Record<string, Value> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether a schema allows no value: `false`, or `{ not: {} }` as some libraries write it. */
export function isNever(schema: unknown): boolean {
  if (!isObject(schema)) return schema === false;
  const { not, ...others } = schema;
  const isAll = not === true || (isObject(not) && Object.keys(not).length === 0);
  return isAll && Object.keys(others).length === 0;
}

/** Parses a JSON text, or its bytes in UTF-8. Returns `undefined` when it is not valid JSON. */
export function parseJson(text: string | Uint8Array, reviver?: Parameters<typeof JSON.parse>[1]): unknown {
  try {
    return JSON.parse(
      typeof text === "string" ? text : new TextDecoder("utf-8", { fatal: true }).decode(text),
      reviver,
    );
  } catch {
    return undefined;
  }
}

/** The value that a reference such as `#/$defs/Place` leads to in a document; `undefined` where there is none. */
export function referredTo(document: unknown, reference: string): unknown {
  if (!reference.startsWith("#")) return undefined;
  let at = document;
  for (const part of reference.slice(1).split("/").slice(1)) {
    const key = withoutEscapes(part).replaceAll("~1", "/").replaceAll("~0", "~");
    at = typeof at === "object" && at !== null && Object.hasOwn(at, key) ? Reflect.get(at, key) : undefined;
  }
  return at;
}

/** Decodes a part of a URI; returns it unchanged when its escapes are invalid. */
export function withoutEscapes(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Whether a key could change the behaviour of objects; `constructor` does only if its value has a prototype. */
export function isPrototypeKey(key: string, value: JsonValue): boolean {
  return (
    key === "__proto__" || (key === "constructor" && isObject(value) && Object.hasOwn(value, "prototype"))
  );
}

/** Copies JSON without such keys. */
export function withoutPrototypeKeys(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withoutPrototypeKeys);
  if (!isObject<JsonValue>(value)) return value;
  const kept = Object.entries(value).filter(([key, inner]) => !isPrototypeKey(key, inner));
  return Object.fromEntries(kept.map(([key, inner]) => [key, withoutPrototypeKeys(inner)]));
}

/** Estimates the length of data as JSON, or its size in memory. Stops once the limit is exceeded. */
export function roughSize(data: unknown, limit: number): number {
  const pending: unknown[] = [data];
  let size = 0;
  while (pending.length > 0 && size <= limit) {
    const one = pending.pop();
    if (typeof one === "string") size += one.length + 2;
    else if (one instanceof Uint8Array) size += one.byteLength;
    else if (typeof one !== "object" || one === null) size += 4;
    else {
      // An array that is too long anyway is not expanded.
      size += 4 + (Array.isArray(one) ? one.length * 2 : 0);
      if (size > limit) return size;
      if (!Array.isArray(one)) for (const name of Object.keys(one)) size += name.length + 2;
      for (const value of Object.values(one)) pending.push(value);
    }
  }
  return size;
}
