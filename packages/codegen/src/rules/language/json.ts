import type { JsonValue } from "@cem/core";

/** Reads JSON from a text, or undefined when it is none. */
export function readJson(text: string): JsonValue | undefined {
  const trimmed = text.trim();
  if (trimmed === "" || trimmed.length > 100_000) return undefined;
  try {
    return JSON.parse(trimmed) as JsonValue;
  } catch {
    return undefined;
  }
}
