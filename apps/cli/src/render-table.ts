import type { JsonValue } from "@cem/core";
import { alignColumns, columnsOf, counted, cut } from "./text-layout.ts";
import type { Style } from "./text-layout.ts";
import { oneLine } from "./safe-text.ts";

/** Rows of a table that are shown; of the rest only the number is. */
export const MAX_ROWS = 20;
const MAX_CELL_COLUMNS = 40;
const MIN_CELL_COLUMNS = 12;
const GAP = "  ";

export type Row = Readonly<Record<string, JsonValue>>;

function cellText(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : oneLine(String(value));
}

interface Column {
  name: string;
  cells: string[];
  width: number;
  numeric: boolean;
}

function columnFor(name: string, rows: readonly Row[]): Column {
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

/** Renders objects as a table: a dim heading, the first rows, and how much is left out. */
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
