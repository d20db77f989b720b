import { hash } from "node:crypto";

/** Returned for a value whose JSON is longer than allowed, a cyclic one included. */
export const TOO_LARGE: unique symbol = Symbol("too large");

/**
 * Serializes a value as JSON with sorted keys and without spaces.
 *
 * Definitions come from untrusted servers and may be nested to any depth, where JSON.stringify and libraries such as
 * safe-stable-stringify overflow the call stack (at about 5,000 levels), so the writer keeps a stack of its own. The
 * digests in lock files depend on the exact text.
 *
 * @param maxCharacters - the limit, above which {@link TOO_LARGE} is returned. Default: none.
 */
export function canonicalJson(value: unknown): string;
export function canonicalJson(value: unknown, maxCharacters: number): string | typeof TOO_LARGE;
export function canonicalJson(value: unknown, maxCharacters = Infinity): string | typeof TOO_LARGE {
  return writeJson(value, { sorted: true, maxCharacters });
}

/** Serializes a value as JSON without spaces, in the order of its keys; {@link TOO_LARGE} above the limit. */
export function compactJson(value: unknown, maxCharacters = Infinity): string | typeof TOO_LARGE {
  return writeJson(value, { sorted: false, maxCharacters });
}

interface WriteOptions {
  sorted: boolean;
  maxCharacters?: number | undefined;
}

/** A part of the text to be written. */
type Pending = string | { value: object };

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

/** Returns the start of an array's text and pushes the rest onto the stack, the last part first. */
function openArray(items: readonly unknown[], pending: Pending[]): string {
  pending.push("]");
  for (let index = items.length - 1; index >= 0; index -= 1) {
    pending.push(asPending(items[index]));
    if (index > 0) pending.push(",");
  }
  return "[";
}

/** Returns the start of an object's text and pushes the rest onto the stack, the last part first. */
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

/** The SHA-256 digest of a text in UTF-8, in lower-case hexadecimal. */
export function sha256(text: string): string {
  return hash("sha256", text);
}
