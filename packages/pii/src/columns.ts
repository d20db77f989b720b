import type { Finding } from "./context.ts";

/** A table heading whose names tell the type of values in the columns. */
export interface Heading {
  delimiter: string;
  /** The telling names by column, from 0. */
  columns: ReadonlyMap<number, string>;
  /** The number of cells per line. */
  count: number;
  /** Whether spaces follow the delimiters, as in prose. */
  isSpaced: boolean;
}

/** Reads the names of columns and finds the values below them. */
export interface ColumnFinder {
  /** Quick test whether a line may contain such a name. */
  mayTell(line: string): boolean;
  /** Whether a name tells the type of the values below it. */
  tells(name: string): boolean;
  /** Finds the values in a cell under such a name. */
  find(cell: string, name: string): Finding[];
}

const DELIMITERS = [",", ";", "\t", "|"];
/** A line that is not code: without block brackets, assignments, tags, escapes and calls. */
const HEADING = /^(?!.{0,4096}[\w$]\()[^{}=<>\\[\]]{3,4096}$/u;
/** Neither a member of an object nor a sentence. */
const NAME = /^(?!.{0,64}:\s*\S)[^"`]{0,64}$/u;
/** A name of a few words. */
const TELLING = /^[\p{L}_](?!(?:\S{1,64}\s+){4})[\p{L}\p{N}_ .'()/°-]{0,40}$/u;
/** Markup and notes around a column name: `**Password** (initial)`, `Password 1:`. */
const DECORATION = /[*`:?#]+|\([^()]{0,64}\)| \d{1,4}$/gu;
/** A row of just a name and a value. */
const PAIR =
  /^[ \t]{0,32}\|?[ \t]{0,32}"?(?<name>[\p{L}_][\p{L}\p{N}_ .-]{1,40}?)"?[ \t]{0,32}(?<delimiter>[|\t;,])[ \t]{0,32}"?(?<value>[^\s|;,"]{3,128})"?[ \t]{0,32}\|?[ \t\r]{0,32}$/u;
/** The first cell of a line, if it may be the name of a column or of a value. */
const FIRST_CELL = /[^\n{}=<>\\[\],;|\t]{0,80}[,;|\t]/uy;
const RULE_BEGINS = /[\s|+:=-]/u;
/** The separator line between the heading of a table and its rows. */
const RULE = /^[\s|+:=-]{3,}$/u;
/** One word that contains a digit or a symbol. */
const UNLIKE_WORDS = /^(?=\S*[^\p{L}\s])\S+$/u;

/**
 * Finds values in the columns of a table (CSV and the like) whose heading names them, and in rows of a name and a value.
 *
 * @param heading - The heading of the table if the text is a later part of it.
 * @returns the findings, and the heading that applies to the text that follows.
 */
export function findColumns(
  text: string,
  finder: ColumnFinder,
  heading?: Heading,
): { found: Finding[]; heading: Heading | undefined } {
  const found: Finding[] = [];
  let current = heading;
  // Below a line of hyphens there are only rows, except below the first line of a framed table.
  let isRuled = false;
  let isFramed = false;
  for (let start = 0; start < text.length;) {
    const line = text.indexOf("\n", start);
    const end = line === -1 ? text.length : line;
    FIRST_CELL.lastIndex = start;
    if (isBlank(text, start, end)) {
      current = undefined;
      isRuled = false;
      isFramed = false;
    } else if (RULE_BEGINS.test(text[start] ?? "") && RULE.test(text.slice(start, end))) {
      isRuled = isFramed || text[start] !== "+";
      isFramed = true;
    } else if (current !== undefined || FIRST_CELL.test(text)) {
      const row = text.slice(start, end);
      const isRow = current !== undefined && addCells(row, start, current, finder, found);
      if (!isRow && finder.mayTell(row)) {
        // A line with a different number of cells may be the rest of a multi-line cell.
        const pair = current === undefined ? PAIR.exec(row)?.groups : undefined;
        const isPair =
          pair !== undefined &&
          (isRuled || isLikePrevious(text, start, row, pair["delimiter"] ?? "")) &&
          addPair(row, start, pair, finder, found);
        current = isPair || isRuled ? current : (headingOf(row, finder) ?? current);
      }
    }
    start = end + 1;
  }
  return { found, heading: current };
}

function headingOf(line: string, finder: ColumnFinder): Heading | undefined {
  if (!HEADING.test(line)) return undefined;
  for (const delimiter of DELIMITERS) {
    if (!line.includes(delimiter)) continue;
    const names = line.split(delimiter).map((cell) => cell.trim().replaceAll(/^"|"$/gu, ""));
    // A table may also have delimiters around each line.
    const isFramed = delimiter === "|" && names.length > 2 && names[0] === "" && names.at(-1) === "";
    const inner = isFramed ? names.slice(1, -1) : names;
    if (!inner.every((name) => NAME.test(name))) continue;
    const told = names.flatMap((name, at): [number, string][] => {
      const plain = name.replaceAll(DECORATION, "").trim();
      const parts = TELLING.test(plain) ? [...plain.split("/"), plain] : [];
      const telling = parts.find((one) => one !== "pass" && finder.tells(one));
      return telling === undefined ? [] : [[at, telling]];
    });
    // If all cells of a line are such names, it is a list of keys or a form, not a heading.
    if (told.length === 0 || told.length === inner.filter((name) => name !== "").length) return undefined;
    const isSpaced = delimiter !== "|" && line.includes(`${delimiter} `);
    return { delimiter, columns: new Map(told), count: names.length, isSpaced };
  }
  return undefined;
}

/** @returns whether the line belongs to the table. */
function addCells(
  line: string,
  start: number,
  { delimiter, columns, count, isSpaced }: Heading,
  finder: ColumnFinder,
  found: Finding[],
): boolean {
  const cells: { value: string; name: string; at: number }[] = [];
  let column = 0;
  for (let from = 0; from <= line.length; column += 1) {
    const close = line[from] === '"' ? line.indexOf('"', from + 1) : -1;
    const mark = line.indexOf(delimiter, close === -1 ? from : close + 1);
    const to = mark === -1 ? line.length : mark;
    const name = columns.get(column);
    if (name !== undefined) {
      const cell = line.slice(from, to);
      const value = cell.trim().replaceAll(/^"|"$/gu, "");
      cells.push({ value, name, at: start + from + cell.indexOf(value) });
    }
    from = to + 1;
  }
  if (column !== count) return false;
  for (const { value, name, at } of cells)
    if (!isSpaced || UNLIKE_WORDS.test(value)) addFound(found, finder.find(value, name), at);
  return true;
}

function isBlank(text: string, start: number, end: number): boolean {
  let at = start;
  while (at < end && text.charCodeAt(at) <= 32) at += 1;
  return at >= end;
}

/** Whether the previous line has the same number of cells. */
function isLikePrevious(text: string, start: number, line: string, delimiter: string): boolean {
  if (start === 0) return false;
  const previous = text.slice(text.lastIndexOf("\n", start - 2) + 1, start - 1);
  return previous.split(delimiter).length === line.split(delimiter).length;
}

/** Finds a value beside its name, in a table whose rows have two cells. */
function addPair(
  line: string,
  start: number,
  { name = "", value = "" }: Record<string, string>,
  finder: ColumnFinder,
  found: Finding[],
): boolean {
  if (!UNLIKE_WORDS.test(value) || !finder.tells(name)) return false;
  const own = finder.find(value, name);
  // A plain number is a count of what the name says, such as mobile devices.
  if (own.some(({ type }) => type === "PHONE") && !/\D/u.test(value)) return false;
  addFound(found, own, start + line.lastIndexOf(value));
  return own.length > 0;
}

/** HTML cells of tables and definition lists. */
const CELL = /<(?<tag>th|td|dt|dd)(?:\s[^<>]{0,256})?>(?<value>[^<>]{0,256})<\/|<tr(?=[\s>])/giu;

/** Finds values in HTML cells below or next to the cells that name them. */
export function findCells(text: string, finder: ColumnFinder): Finding[] {
  const found: Finding[] = [];
  let names: string[] = [];
  let isHeading = false;
  let column = 0;
  /** The name in the header cell of a row. */
  let beside: string | undefined;
  for (const { 0: cell, index, groups } of text.matchAll(CELL)) {
    const { tag = "tr", value = "" } = groups ?? {};
    const kind = tag.toLowerCase();
    if (kind === "tr") {
      isHeading = true;
      column = 0;
      beside = undefined;
    } else if (kind === "th" || kind === "dt") {
      beside = value.trim();
      if (kind === "th" && isHeading) {
        if (column === 0) names = [];
        names.push(beside);
      }
      column += 1;
    } else {
      isHeading = false;
      const name = beside ?? names[column];
      if (name !== undefined && finder.tells(name))
        addFound(found, finder.find(value, name), index + cell.length - "</".length - value.length);
      column += 1;
    }
  }
  return found;
}

function addFound(found: Finding[], own: readonly Finding[], at: number): void {
  for (const one of own) found.push({ ...one, start: at + one.start, end: at + one.end });
}
