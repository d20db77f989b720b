import { createHash } from "node:crypto";

const CONTROL_OR_SEPARATOR = /[\p{Cc}\p{Cf}\u2028\u2029]+/gu;

/**
 * Encloses untrusted text in marks that it can't contain, since they are derived from a digest of the text. The same
 * text gets the same marks, so that a provider's prompt cache stays valid.
 */
export function fence(text: string): string {
  const mark = `data-${createHash("sha256").update(text).digest("hex").slice(0, 8)}`;
  return `<${mark}>\n${text}\n</${mark}>`;
}

/** Puts text on one line, without control and invisible characters, cut to a length in UTF-16 units. */
export function oneLine(text: string, maxCharacters: number): string {
  const line = text.replaceAll(CONTROL_OR_SEPARATOR, " ").replaceAll(/\s+/gu, " ").trim();
  return line.length > maxCharacters ? `${line.slice(0, maxCharacters - 1)}…` : line;
}
