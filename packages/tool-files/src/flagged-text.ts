import type { ToolFlag } from "@cem/core";

/** Puts `[flagged: <rules>]` before a text in which `inspectDescription` found something. */
export function markFlagged(text: string, flags: readonly ToolFlag[]): string {
  if (flags.length === 0) return text;
  const rules = [...new Set(flags.map(({ rule }) => rule))].join(", ");
  return `[flagged: ${rules}] ${text}`;
}
