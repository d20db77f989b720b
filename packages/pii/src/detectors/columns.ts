import type { Finding } from "../types.ts";
import { isPlaceholder, isSecretKey, mayHoldSecret } from "./secret.ts";

/** A heading of a table whose columns hold secrets. */
export interface Heading {
  delimiter: string;
  /** Which columns do, from 0. */
  columns: readonly number[];
  /** How many cells each line has. */
  count: number;
}

const DELIMITERS = [",", ";", "\t", "|"];
const MAX_HEADING_CHARACTERS = 4_096;
const MIN_SECRET_CHARACTERS = 4;

/**
 * Finds the secrets in the columns of a table (CSV and the like) whose heading names them.
 *
 * @param heading - That of the table's beginning, where the text is a later part of it.
 * @returns the heading of what follows the text, too.
 */
export function findColumns(
  text: string,
  heading?: Heading,
): { found: Finding[]; heading: Heading | undefined } {
  const found: Finding[] = [];
  let current = heading;
  if (heading === undefined && !(text.includes("\n") && mayHoldSecret(text))) return { found, heading };
  for (let start = 0; start < text.length;) {
    const line = text.indexOf("\n", start);
    const end = line === -1 ? text.length : line;
    const next = headingOf(text.slice(start, Math.min(end, start + MAX_HEADING_CHARACTERS)));
    if (next !== undefined) current = next;
    else if (text.slice(start, end).trim() === "") current = undefined;
    else if (current !== undefined) addCells(text.slice(start, end), start, current, found);
    start = end + 1;
  }
  return { found, heading: current };
}

function headingOf(line: string): Heading | undefined {
  if (line.includes("=") || line.includes("{") || !mayHoldSecret(line)) return undefined;
  for (const delimiter of DELIMITERS) {
    if (!line.includes(delimiter)) continue;
    const names = line.split(delimiter).map((name) => name.trim().replaceAll('"', ""));
    const columns = names.flatMap((name, at) => (isSecretKey(name) ? [at] : []));
    if (columns.length > 0 && names.every((name) => name.length < 64))
      return { delimiter, columns, count: names.length };
  }
  return undefined;
}

/** A line with another number of cells is none of the table, or the rest of a cell with a line end in it. */
function addCells(line: string, start: number, heading: Heading, found: Finding[]): void {
  const { delimiter, columns, count } = heading;
  const cells: Finding[] = [];
  let column = 0;
  for (let from = 0; from <= line.length; column += 1) {
    const close = line[from] === '"' ? line.indexOf('"', from + 1) : -1;
    const mark = line.indexOf(delimiter, close === -1 ? from : close + 1);
    const to = mark === -1 ? line.length : mark;
    const cell = line.slice(from, to);
    const value = cell.trim().replace(/^"|"$/g, "");
    if (columns.includes(column) && value.length >= MIN_SECRET_CHARACTERS && !isPlaceholder(value)) {
      const at = start + from + cell.indexOf(value);
      cells.push({ start: at, end: at + value.length, type: "SECRET" });
    }
    from = to + 1;
  }
  if (column === count) found.push(...cells);
}
