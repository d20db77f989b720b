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

/** Reads a value as people write it: JSON, or text with or without quotation marks. */
export function readLooseValue(text: string): JsonValue {
  const trimmed = text.trim().replace(/[.;,]$/u, "");
  const json = readJson(trimmed);
  if (json !== undefined) return json;
  return /^(["'`“‘])([\s\S]*)(["'`”’])$/u.exec(trimmed)?.[2] ?? trimmed;
}
