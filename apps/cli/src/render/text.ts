import measure from "fast-string-truncated-width";
import path from "node:path";
import type { createColors } from "picocolors";

/** The style of text on one output: its colours, which may be disabled, and its width. */
export interface Style {
  colors: ReturnType<typeof createColors>;
  width: number;
}

/** The indent of output, which sets it apart from the prompt. */
export const INDENT = "  ";

/** The texts of large catalogs are measured by their length. */
const PLAIN_ASCII = /^[ -~]*$/;

/** Columns that a text without line breaks takes on a terminal. */
export function columnsOf(text: string): number {
  return PLAIN_ASCII.test(text) ? text.length : measure(text).width;
}

export function padEnd(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - columnsOf(text)));
}

/** Truncates a line that is too wide, with an ellipsis. */
export function cut(text: string, width: number): string {
  const { index, ellipsed } = measure(text, { limit: width, ellipsis: "…" });
  return ellipsed ? `${text.slice(0, index)}…` : text.slice(0, index);
}

/** The beginning of a text that fits. */
export function take(text: string, width: number): string {
  return text.slice(0, measure(text, { limit: width, ellipsis: "" }).index);
}

/**
 * Breaks a text into lines at its own line breaks and between words. Continuation lines keep the line's indent. A word
 * wider than a line is not broken, nor is a command between double spaces, as in hints, so that both can be copied.
 * (wrap-ansi and fast-wrap-ansi do neither.)
 */
export function wrap(text: string, width: number): string[] {
  return text.split("\n").flatMap((line) => wrapLine(line, width));
}

export function wrapIndented(text: string, indent: string, width: number): string[] {
  return wrap(text, width - columnsOf(indent)).map((line) => `${indent}${line}`.trimEnd());
}

function wrapLine(line: string, width: number): string[] {
  if (columnsOf(line) <= width) return [line];
  const [indent = ""] = /^ +/u.exec(line) ?? [];
  if (indent !== "") return wrapIndented(line.slice(indent.length), indent, width);
  const lines: string[] = [];
  let current = "";
  for (const word of wordsOf(line)) {
    if (current !== "" && columnsOf(current) + 1 + columnsOf(word) > width) {
      lines.push(current);
      current = word;
    } else {
      current = current === "" ? word : `${current} ${word}`;
    }
  }
  return [...lines, current];
}

const COLUMN_GAP = "  ";

/** Formats rows of cells as lines, with columns as wide as their widest cell. Cells may be coloured. */
export function alignColumns(
  rows: readonly (readonly string[])[],
  isRightAligned: (column: number) => boolean = () => false,
): string[] {
  const columnCount = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: columnCount }, (_, column) =>
    Math.max(...rows.map((row) => columnsOf(row[column] ?? ""))),
  );
  return rows.map((row) =>
    row
      .map((cell, column) => {
        const space = " ".repeat((widths[column] ?? 0) - columnsOf(cell));
        return isRightAligned(column) ? space + cell : cell + space;
      })
      .join(COLUMN_GAP)
      .trimEnd(),
  );
}

/** The words of a line; a command between double spaces counts as one. */
function wordsOf(line: string): string[] {
  const parts = line.split(/ (?<= {2})(cem \S.*?)(?: (?= )|$)/u);
  return parts.flatMap((part, index) => (index % 2 === 1 ? [part] : part.split(" ")));
}

/** `1 tool`, `2 tools`. */
export function counted(count: number, noun: string): string {
  return `${grouped(count)} ${noun}${count === 1 ? "" : "s"}`;
}

export function joined(...parts: readonly (string | false | undefined)[]): string {
  return parts.filter(Boolean).join(", ");
}

/** Formats an integer as `1,914`. Intl would take 10 ms for its first one. */
export function grouped(count: number): string {
  let text = String(Math.abs(count));
  for (let at = text.length - 3; at > 0; at -= 3) text = `${text.slice(0, at)},${text.slice(at)}`;
  return count < 0 ? `-${text}` : text;
}

/** `<1 ms`, `12 ms`, `3.4 s`. */
export function duration(ms: number): string {
  if (ms < 1) return "<1 ms";
  return ms < 10_000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

/** A path relative to the working directory if it is inside, otherwise unchanged. */
export function shortPath(file: string): string {
  const relative = path.relative(process.cwd(), file);
  return relative === "" ? "." : relative.startsWith("..") ? file : relative;
}

/**
 * Characters that control a terminal or mislead its reader: control characters except newline and tab, the C1 set, Unicode
 * line separators, lone surrogates, and invisible characters, such as marks that change text direction. Joiners and
 * variation selectors are left where emoji and scripts other than Latin need them.
 */
const UNSAFE =
  // oxlint-disable-next-line no-control-regex -- matches control characters on purpose
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029]|\p{Cs}|(?<![^\u0000-\u007f\p{DI}]|[#*\d])\p{VS}|(?<![^\u0000-\u007f\p{DI}]|\ufe0f)[\u200c\u200d]|(?![\p{VS}\u200c\u200d])\p{DI}/gu;

/** Fast path: most texts contain nothing to escape. */
const PLAIN = /^[\t\n\x20-\x7e]*$/u;

function escape(character: string): string {
  const point = character.codePointAt(0) ?? 0;
  if (point < 0x100) return `\\x${point.toString(16).padStart(2, "0")}`;
  if (point < 0x10000) return `\\u${point.toString(16).padStart(4, "0")}`;
  return `\\u{${point.toString(16)}}`;
}

/** Escapes terminal control sequences, such as `\x1b[2J`. For any untrusted text. */
export function safeText(text: string): string {
  return PLAIN.test(text) ? text : text.replaceAll("\r\n", "\n").replaceAll(UNSAFE, escape);
}

/** Matches the JSON of data that contains something to escape. */
const UNSAFE_JSON = /[\u007f-\u009f\u2028\u2029\p{DI}]|\\[bfru]/u;

/** Escapes every string in plain data, keys too, as `safeText` does. Applied once, before layout. */
export function safeData<T>(data: T): T {
  // For a large catalog, testing the text takes a fifth of the time of a walk.
  return UNSAFE_JSON.test(JSON.stringify(data)) ? (neutralise(data) as T) : data;
}

function neutralise(data: unknown): unknown {
  if (typeof data === "string") return safeText(data);
  if (typeof data !== "object" || data === null) return data;
  if (Array.isArray(data)) return data.map(neutralise);
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [safeText(key), neutralise(value)]));
}

/** Turns a text into one line: every run of white space becomes a single space. */
export function oneLine(text: string): string {
  return text.replaceAll(/\s+/gu, " ").trim();
}

const UNSAFE_IN_JSON = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** JSON that is safe to print on a terminal: the same data, with raw control characters escaped as `\u009b`. */
export function safeJson(data: unknown, indent?: number): string {
  return JSON.stringify(data, null, indent).replaceAll(
    UNSAFE_IN_JSON,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
