import { createHash } from "node:crypto";

const CONTROL_OR_SEPARATOR = /[\p{Cc}\p{Cf}\u2028\u2029]+/gu;

/**
 * Puts text of others between marks that it can't contain: the mark is drawn from the text itself. The same text has
 * the same fence, so that a provider's prompt cache holds.
 */
export function fence(text: string): string {
  const mark = `data-${createHash("sha256").update(text).digest("hex").slice(0, 8)}`;
  return `<${mark}>\n${text}\n</${mark}>`;
}

/** Text as one line without characters that nobody sees. */
export function oneLine(text: string, maxCharacters: number): string {
  const line = text.replaceAll(CONTROL_OR_SEPARATOR, " ").replaceAll(/\s+/gu, " ").trim();
  return line.length > maxCharacters ? `${line.slice(0, maxCharacters - 1)}…` : line;
}
