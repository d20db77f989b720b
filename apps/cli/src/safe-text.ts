/**
 * What a terminal would obey or be misled by: control characters except newline and tab, the C1 set, marks
 * that turn the direction of text, the Unicode line separators, and surrogates without their other half.
 */
const UNSAFE =
  // oxlint-disable-next-line no-control-regex -- control characters are what this is about
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]|\p{Cs}|[\u{e0000}-\u{e007f}]/gu;

function escape(character: string): string {
  const point = character.codePointAt(0) ?? 0;
  if (point < 0x100) return `\\x${point.toString(16).padStart(2, "0")}`;
  if (point < 0x10000) return `\\u${point.toString(16).padStart(4, "0")}`;
  return `\\u{${point.toString(16)}}`;
}

/** Text from outside, made harmless: what a terminal would obey is spelled out (`\x1b[2J`) instead. */
export function safeText(text: string): string {
  return text.replaceAll("\r\n", "\n").replaceAll(UNSAFE, escape);
}

/** Makes every string in plain data harmless, keys too. Applied once, before anything is laid out. */
export function safeData<T>(data: T): T {
  return neutralise(data) as T;
}

function neutralise(data: unknown): unknown {
  if (typeof data === "string") return safeText(data);
  if (Array.isArray(data)) return data.map(neutralise);
  if (typeof data !== "object" || data === null) return data;
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [safeText(key), neutralise(value)]));
}

/** One line of text: every run of white space becomes a single space. */
export function oneLine(text: string): string {
  return text.replaceAll(/\s+/gu, " ").trim();
}

const UNSAFE_IN_JSON = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** JSON that a terminal can show, too: the same data, with what JSON leaves raw written as `\u009b`. */
export function safeJson(data: unknown, indent?: number): string {
  return JSON.stringify(data, null, indent).replaceAll(
    UNSAFE_IN_JSON,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
