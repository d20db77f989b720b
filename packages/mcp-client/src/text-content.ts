import type { JsonValue } from "@cem/core";
import { isObject } from "./json-object.ts";

/** The text of a content part; `undefined` for a part of another kind. */
export function textOf(part: JsonValue): string | undefined {
  if (!isObject(part) || part["type"] !== "text") return undefined;
  return typeof part["text"] === "string" ? part["text"] : undefined;
}

/**
 * Reads a text: parsed when the whole of it is a JSON object or array, and otherwise unchanged. Scalars are not guessed,
 * so that a tool whose text says `42` today and `n/a` tomorrow returns a text on both days.
 */
export function readText(text: string): JsonValue {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
}
