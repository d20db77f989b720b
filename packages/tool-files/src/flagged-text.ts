import type { ToolFlag } from "@cem/core";

/** Puts a mark before a text that seems to give orders to a model, so that nobody quotes it unmarked. */
export function markFlagged(text: string, flags: readonly ToolFlag[]): string {
  if (flags.length === 0) return text;
  const rules = [...new Set(flags.map(({ rule }) => rule))].join(", ");
  return `[flagged: ${rules}] ${text}`;
}
