import { hash } from "node:crypto";

/** Returned for a value whose JSON is longer than allowed, or that is nested too deeply to be written. */
export const TOO_LARGE: unique symbol = Symbol("too large");

/** Serializes a value as JSON with sorted keys and without spaces. The digests in lock files depend on the exact text. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const entries = Object.entries(value).filter(([, member]) => member !== undefined);
  // By code units: an object with keys in this order would put those that are whole numbers first.
  const sorted = entries.toSorted(([one], [other]) => (one < other ? -1 : 1));
  return `{${sorted.map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`).join(",")}}`;
}

/** Serializes a value as JSON without spaces, in the order of its keys; {@link TOO_LARGE} above the limit. */
export function compactJson(value: unknown, maxCharacters = Infinity): string | typeof TOO_LARGE {
  try {
    const json = JSON.stringify(value) ?? "null";
    return json.length > maxCharacters ? TOO_LARGE : json;
  } catch {
    return TOO_LARGE;
  }
}

/** The SHA-256 digest of a text in UTF-8, in lower-case hexadecimal. */
export function sha256(text: string): string {
  return hash("sha256", text);
}
