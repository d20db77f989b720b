/**
 * Characters that control a terminal or mislead its reader: control characters except newline and tab, the C1 set, marks
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

/** Escapes what would control a terminal, as in `\x1b[2J`. For any text from outside. */
export function safeText(text: string): string {
  return text.replaceAll("\r\n", "\n").replaceAll(UNSAFE, escape);
}

/** Escapes every string in plain data, keys too, as `safeText` does. Applied once, before anything is laid out. */
export function safeData<T>(data: T): T {
  return neutralise(data) as T;
}

function neutralise(data: unknown): unknown {
  if (typeof data === "string") return safeText(data);
  if (Array.isArray(data)) return data.map(neutralise);
  if (typeof data !== "object" || data === null) return data;
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [safeText(key), neutralise(value)]));
}

/** Turns a text into one line: every run of white space becomes a single space. */
export function oneLine(text: string): string {
  return text.replaceAll(/\s+/gu, " ").trim();
}

const UNSAFE_IN_JSON = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** JSON that is safe to print on a terminal: the same data, with what JSON leaves raw written as `\u009b`. */
export function safeJson(data: unknown, indent?: number): string {
  return JSON.stringify(data, null, indent).replaceAll(
    UNSAFE_IN_JSON,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
