import { CemError } from "@cem/core";
import type { JsonValue } from "@cem/core";

const MAX_VALUES = 1_000_000;
const MAX_DEPTH = 200;

/**
 * Turns what an expression came to into JSON: its whole numbers are BigInts.
 *
 * @throws CemError `EXPRESSION_FAILED` for what JSON can't represent, and what is too large.
 */
export function toJson(value: unknown): JsonValue {
  let values = 0;
  const convert = (item: unknown, depth: number): JsonValue => {
    values += 1;
    if (values > MAX_VALUES) throw notJson(`more than ${MAX_VALUES} values`);
    if (depth > MAX_DEPTH) throw notJson(`a nesting of more than ${MAX_DEPTH} levels`);
    if (item === null || typeof item === "string" || typeof item === "boolean") return item;
    if (typeof item === "bigint") return wholeNumber(item);
    if (typeof item === "number") {
      if (!Number.isFinite(item)) throw notJson(`the number ${item}`);
      return item;
    }
    if (Array.isArray(item)) return item.map((one) => convert(one, depth + 1));
    if (item instanceof Date) return item.toISOString();
    if (item instanceof Map) return fromEntries([...item.entries()], convert, depth);
    if (typeof item === "object" && isPlain(item)) return fromEntries(Object.entries(item), convert, depth);
    throw notJson("a value of a type that JSON lacks; turn it into a text with string()");
  };
  return convert(value, 0);
}

function fromEntries(
  entries: readonly (readonly [unknown, unknown])[],
  convert: (item: unknown, depth: number) => JsonValue,
  depth: number,
): JsonValue {
  // fromEntries defines each key, also one that is called __proto__.
  return Object.fromEntries(entries.map(([key, item]) => [String(key), convert(item, depth + 1)]));
}

function isPlain(item: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(item);
  return prototype === Object.prototype || prototype === null;
}

function wholeNumber(value: bigint): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number))
    throw notJson(`the whole number ${value}, which JSON can't hold exactly`);
  return number;
}

function notJson(what: string): CemError {
  return new CemError("EXPRESSION_FAILED", `An expression came to ${what}.`);
}
