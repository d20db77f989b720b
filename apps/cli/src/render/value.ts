import type { JsonValue } from "@cem/core";
import { readableNumber } from "@cem/core/text";
import { LABEL_COLUMNS, MAX_ROWS, renderTable, type Row } from "./rows.ts";
import { columnsOf, counted, cut, grouped, oneLine, padEnd, take, wrap, type Style } from "./text.ts";

const MAX_TEXT_CHARACTERS = 2_000;
const MAX_TEXT_LINES = 40;
const MAX_ENTRIES = 40;
const MAX_DEPTH = 4;
const MAX_LINES = 200;

type Scalar = string | number | boolean | null;

const isScalar = (value: JsonValue): value is Scalar => typeof value !== "object" || value === null;

const isRow = (value: JsonValue): value is Row =>
  typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length > 0;

const isFlatRow = (value: JsonValue): value is Record<string, Scalar> =>
  isRow(value) && Object.values(value).every(isScalar);

/** Renders a value for people: aligned keys, tables, readable numbers, and long parts cut with a note. */
export function renderValue(value: JsonValue, style: Style): string[] {
  const lines = renderNested(withReadableNumbers(value), style, 0);
  if (lines.length <= MAX_LINES) return lines;
  const hidden = counted(lines.length - MAX_LINES, "more line");
  return [...lines.slice(0, MAX_LINES), style.colors.dim(`… ${hidden} (--json shows all)`)];
}

/** Copies a value for people, without floating-point noise in its numbers. */
export function withReadableNumbers(value: JsonValue): JsonValue {
  if (typeof value === "number") return readableNumber(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(withReadableNumbers);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withReadableNumbers(inner)]));
}

function renderNested(value: JsonValue, style: Style, depth: number): string[] {
  if (typeof value === "string") return renderText(value, style);
  const inline = renderInline(value, style);
  if (isScalar(value)) return [String(value)];
  if (depth >= MAX_DEPTH) return [cut(JSON.stringify(value), style.width)];
  if (Array.isArray(value)) {
    if (value.length > 0 && value.every(isRow)) return renderTable(value, style);
    return inline === undefined ? renderList(value, style, depth) : [inline];
  }
  if (!isRow(value)) return [inline ?? "{}"];
  return renderEntries(Object.entries(value), "key", style, depth);
}

function renderText(text: string, { colors }: Style): string[] {
  const kept = text.slice(0, MAX_TEXT_CHARACTERS).split("\n").slice(0, MAX_TEXT_LINES);
  const hidden = text.length - kept.join("\n").length;
  const lines = kept.map((line) => line.replaceAll("\t", "    "));
  return hidden <= 0
    ? lines
    : [...lines, colors.dim(`… ${grouped(hidden)} more characters (--json shows all)`)];
}

function renderList(values: readonly JsonValue[], style: Style, depth: number): string[] {
  const entries = values
    .slice(0, MAX_ROWS)
    .map((value, index): [string, JsonValue] => [`${index + 1}`, value]);
  const lines = renderEntries(entries, "item", style, depth);
  const hidden = values.length - entries.length;
  return hidden === 0 ? lines : [...lines, style.colors.dim(`… ${grouped(hidden)} more`)];
}

function renderEntries(
  entries: readonly (readonly [string, JsonValue])[],
  noun: "key" | "item",
  style: Style,
  depth: number,
): string[] {
  const { colors } = style;
  const shown = entries.slice(0, MAX_ENTRIES).map(([key, value]) => [oneLine(key), value] as const);
  const smallest = depth === 0 && noun === "key" ? LABEL_COLUMNS : 0;
  const widest = Math.max(smallest, ...shown.map(([key]) => columnsOf(key)));
  const keyWidth = Math.min(widest, Math.floor(style.width / 3));
  const room = style.width - keyWidth - 2;
  const lines = shown.flatMap(([key, value]) => {
    const name = cut(key, keyWidth);
    const label = noun === "item" ? colors.dim(padEnd(name, keyWidth)) : padEnd(name, keyWidth);
    const inline = renderInline(value, { ...style, width: room });
    if (inline !== undefined) return [`${label}  ${inline}`];
    if (typeof value === "string" && !value.includes("\n"))
      return besideLabel(label, value, keyWidth, room, style);
    const nested = renderNested(value, { ...style, width: style.width - 2 }, depth + 1);
    return [label.trimEnd(), ...nested.map((line) => `  ${line}`)];
  });
  const hidden = entries.length - shown.length;
  return hidden === 0 ? lines : [...lines, colors.dim(`… ${counted(hidden, `more ${noun}`)}`)];
}

/** Wraps a long text to the right of its key. */
function besideLabel(label: string, text: string, keyWidth: number, room: number, style: Style): string[] {
  const [first = "", ...rest] = renderText(text, style).flatMap((line) => wrap(line, room));
  return [`${label}  ${first}`, ...rest.map((line) => " ".repeat(keyWidth + 2) + line)];
}

/** The value on one line, if it fits. */
function renderInline(value: JsonValue, { colors, width }: Style): string | undefined {
  const text = inlineText(value, colors);
  return text === undefined || columnsOf(text) > width ? undefined : text;
}

function inlineText(value: JsonValue, colors: Style["colors"]): string | undefined {
  if (typeof value === "string") return /[\n\t]/u.test(value) ? undefined : value;
  if (isScalar(value)) return String(value);
  if (Array.isArray(value)) {
    if (value.length === 0) return "[]";
    const items = value.filter(isScalar).map(String);
    const singleLine = items.length === value.length && !items.some((item) => /[\n\t]/u.test(item));
    return singleLine ? items.join(", ") : undefined;
  }
  if (Object.keys(value).length === 0) return "{}";
  if (!isFlatRow(value) || Object.values(value).some((item) => /[\n\t]/u.test(String(item))))
    return undefined;
  return Object.entries(value)
    .map(([key, item]) => `${colors.dim(`${oneLine(key)}:`)} ${String(item)}`)
    .join(", ");
}

const MAX_CODE_LINES = 60;
const CONTEXT_LINES = 2;
const NUMBER_COLUMNS = 6;
/** A line that takes more rows than this is truncated. */
const MAX_FOLDS = 10;

function numbered(line: string, number: number, { colors, width }: Style, marked: boolean): string[] {
  const gutter = String(number).padStart(NUMBER_COLUMNS - (marked ? 3 : 0));
  const mark = marked ? `  ${colors.red(">")}` : "";
  const [first = "", ...rest] = folded(line, width - NUMBER_COLUMNS - 2);
  return [
    `${mark}${colors.dim(gutter)}  ${first}`.trimEnd(),
    ...rest.map((part) => `${" ".repeat(NUMBER_COLUMNS + 2)}${part}`),
  ];
}

/** Folds a line into parts that fit, so that long code is not hidden. */
function folded(line: string, width: number): string[] {
  const parts: string[] = [];
  let rest = line;
  while (columnsOf(rest) > width && parts.length < MAX_FOLDS) {
    const part = take(rest, width);
    parts.push(part);
    rest = rest.slice(part.length);
  }
  return [...parts, cut(rest, width)];
}

/** Renders a program with line numbers, up to 60 lines unless `all` is set. */
export function renderCode(code: string, style: Style, all = false): string[] {
  const lines = code.trimEnd().replaceAll("\t", "  ").split("\n");
  const shown = all ? lines : lines.slice(0, MAX_CODE_LINES);
  const hidden = lines.length - shown.length;
  const rendered = shown.flatMap((line, index) => numbered(line, index + 1, style, false));
  if (hidden === 0) return rendered;
  const note = `… ${counted(hidden, "more line")} (--verbose shows all)`;
  return [...rendered, `${" ".repeat(NUMBER_COLUMNS + 2)}${style.colors.dim(note)}`];
}

/** Renders the lines around the one that failed, which is marked. */
export function renderCodeAround(code: string, line: number, style: Style): string[] {
  const lines = code.trimEnd().replaceAll("\t", "  ").split("\n");
  const first = Math.max(1, line - CONTEXT_LINES);
  return lines
    .slice(first - 1, line + CONTEXT_LINES)
    .flatMap((text, index) => numbered(text, first + index, style, first + index === line));
}
