import type { JsonValue } from "@cem/core";
import { INDENT, oneLine } from "./text.ts";
import { alignColumns, columnsOf, counted, cut, padEnd, wrap, wrapIndented } from "./text.ts";
import type { Style } from "./text.ts";

/** Columns of a label, wide enough for the names of the stages. */
export const LABEL_COLUMNS = 9;

/** With less room than this, the second text of a pair goes below the first. */
const MIN_RIGHT_COLUMNS = 20;

/** The indent of a text below the text of a row. */
export const ROW_INDENT = " ".repeat(INDENT.length + LABEL_COLUMNS + 2);

export interface RowOptions {
  /** Text at the right edge, dimmed. */
  right?: string | undefined;
  /** Colours the label. Default: plain. */
  paint?: ((label: string) => string) | undefined;
  /** Columns of the longest label in the block. Default and minimum: `LABEL_COLUMNS`. */
  labelColumns?: number | undefined;
}

/** Renders a labelled row, `  select     2 of 14 tools        2 ms`, whose text wraps beside its label. */
export function renderRow(label: string, text: string, style: Style, options: RowOptions = {}): string[] {
  const labelColumns = Math.max(options.labelColumns ?? 0, LABEL_COLUMNS);
  const hanging = " ".repeat(INDENT.length + labelColumns + 2);
  const right = options.right ?? "";
  const room = style.width - hanging.length - (right === "" ? 0 : columnsOf(right) + 3);
  const [first = "", ...rest] = wrap(text, room);
  const painted = (options.paint ?? String)(label) + " ".repeat(Math.max(0, labelColumns - columnsOf(label)));
  // At the edge, or after the text if there is no room.
  const gap = Math.max(3, style.width - hanging.length - columnsOf(first) - columnsOf(right));
  const body = right === "" ? first : `${first}${" ".repeat(gap)}${style.colors.dim(right)}`;
  return [`${INDENT}${painted}  ${body}`.trimEnd(), ...rest.map((line) => `${hanging}${line}`.trimEnd())];
}

/**
 * Renders indented rows of two columns, the first as wide as its widest text; the second wraps. If there is too little room
 * beside the first, the second goes below it.
 */
export function renderPairs(
  pairs: readonly (readonly [string, string])[],
  indent: string,
  { colors, width }: Style,
): string[] {
  const leftColumns = Math.max(0, ...pairs.map(([left]) => columnsOf(left)));
  const hanging = `${indent}${" ".repeat(leftColumns + 2)}`;
  if (width - hanging.length < MIN_RIGHT_COLUMNS)
    return pairs.flatMap(([left, right]) => [
      `${indent}${left}`,
      ...(right === "" ? [] : wrapIndented(right, `${indent}${INDENT}`, width).map(colors.dim)),
    ]);
  return pairs.flatMap(([left, right]) => {
    const [first = "", ...rest] = wrap(right, width - hanging.length);
    const beside = first === "" ? "" : colors.dim(first);
    return [
      `${indent}${padEnd(left, leftColumns)}  ${beside}`.trimEnd(),
      ...rest.map((line) => `${hanging}${colors.dim(line)}`),
    ];
  });
}

/** Maximum number of table rows shown. Of the rest, only the count is shown. */
export const MAX_ROWS = 20;
const MAX_CELL_COLUMNS = 40;
const MIN_CELL_COLUMNS = 12;
const GAP = "  ";

export type Row = Readonly<Record<string, JsonValue>>;

function cellText(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : oneLine(String(value));
}

type Column = ReturnType<typeof columnFor>;

function columnFor(name: string, rows: readonly Row[]) {
  const cells = rows.map((row) => cellText(row[name]));
  const width = Math.max(columnsOf(name), ...cells.map(columnsOf));
  const numeric = rows.every((row) => typeof (row[name] ?? 0) === "number");
  return { name: oneLine(name), cells, width: Math.min(width, MAX_CELL_COLUMNS), numeric };
}

const totalWidth = (columns: readonly Column[]): number =>
  columns.reduce((sum, column) => sum + column.width, 0) + GAP.length * (columns.length - 1);

/** Narrows the widest columns until the table fits, and leaves out the last ones if that is not enough. */
function fit(columns: Column[], width: number): Column[] {
  const fitted = [...columns];
  while (totalWidth(fitted) > width) {
    const widest = fitted.reduce((one, other) => (other.width > one.width ? other : one));
    if (widest.width > MIN_CELL_COLUMNS) widest.width -= 1;
    else if (fitted.length > 1) fitted.pop();
    else break;
  }
  return fitted;
}

/** Renders objects as a table: a dim heading, the first rows, and the number of omitted ones. */
export function renderTable(rows: readonly Row[], { colors, width }: Style): string[] {
  const shown = rows.slice(0, MAX_ROWS);
  const all = [...new Set(shown.flatMap(Object.keys))].map((name) => columnFor(name, shown));
  const columns = fit(all, width);
  const cells = columns.map(({ cells: texts, width: most }) => texts.map((text) => cut(text, most)));
  const names = columns.map(({ name, width: most }) => cut(name, most));
  const [heading = "", ...lines] = alignColumns(
    [names, ...shown.map((_, row) => cells.map((texts) => texts[row] ?? ""))],
    (column) => columns[column]?.numeric === true,
  );
  const table = [colors.dim(heading), ...lines];
  const hidden = [
    rows.length > shown.length ? counted(rows.length - shown.length, "more row") : "",
    all.length > columns.length ? counted(all.length - columns.length, "more column") : "",
  ].filter((part) => part !== "");
  return hidden.length === 0 ? table : [...table, colors.dim(`… ${hidden.join(", ")}`)];
}
