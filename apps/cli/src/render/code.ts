import { columnsOf, counted, cut, take } from "./text.ts";
import type { Style } from "./text.ts";

const MAX_CODE_LINES = 60;
const CONTEXT_LINES = 2;
const NUMBER_COLUMNS = 6;
/** A line that takes more rows than this is cut. */
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
