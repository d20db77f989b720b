import { hash } from "node:crypto";

/** The value has more JSON text than allowed; a cycle ends here too. */
export const TOO_LARGE: unique symbol = Symbol("too large");

/** JSON with sorted keys and no spaces: the same text for the same data, whatever order it came in. */
export function canonicalJson(value: unknown): string;
export function canonicalJson(value: unknown, maxCharacters: number): string | typeof TOO_LARGE;
export function canonicalJson(value: unknown, maxCharacters = Infinity): string | typeof TOO_LARGE {
  return writeJson(value, { sorted: true, maxCharacters });
}

/** JSON without spaces of at most so many characters. */
export function compactJson(value: unknown, maxCharacters = Infinity): string | typeof TOO_LARGE {
  return writeJson(value, { sorted: false, maxCharacters });
}

interface WriteOptions {
  sorted: boolean;
  maxCharacters?: number | undefined;
}

/** A part of the text still to be written. */
type Pending = string | { value: object };

/** With a stack of its own, so that no depth of nesting overflows the call stack. */
function writeJson(
  value: unknown,
  { sorted, maxCharacters = Infinity }: WriteOptions,
): string | typeof TOO_LARGE {
  let text = "";
  const pending: Pending[] = [asPending(value)];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (typeof next === "string") text += next;
    else if (Array.isArray(next.value)) text += openArray(next.value, pending);
    else text += openObject(next.value, pending, sorted);
    if (text.length > maxCharacters) return TOO_LARGE;
  }
  return text;
}

/** The beginning of an array's text; what follows it goes on the stack, last part first. */
function openArray(items: readonly unknown[], pending: Pending[]): string {
  pending.push("]");
  for (let index = items.length - 1; index >= 0; index -= 1) {
    pending.push(asPending(items[index]));
    if (index > 0) pending.push(",");
  }
  return "[";
}

function openObject(value: object, pending: Pending[], sorted: boolean): string {
  const entries = value as Readonly<Record<string, unknown>>;
  const keys = Object.keys(value).filter((key) => entries[key] !== undefined);
  if (sorted) keys.sort();
  pending.push("}");
  for (let index = keys.length - 1; index >= 0; index -= 1) {
    const key = keys[index] ?? "";
    pending.push(asPending(entries[key]), `${index === 0 ? "" : ","}${JSON.stringify(key)}:`);
  }
  return "{";
}

function asPending(value: unknown): Pending {
  if (typeof value === "object" && value !== null) return { value };
  if (typeof value === "bigint") return value.toString();
  return JSON.stringify(value) ?? "null";
}

/** SHA-256 of the text as UTF-8, in lower-case hexadecimal. */
export function sha256(text: string): string {
  return hash("sha256", text);
}
