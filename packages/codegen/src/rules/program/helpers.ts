import { type Expression, name } from "./expression.ts";

const ROW = "Record<string, unknown>";

/** Small functions that a program carries when it needs them. */
const HELPERS = {
  holds: {
    needs: [],
    code: `/** Tests rows for a word in a column, or for a column of that name that is set. That none has it is a mistake. */
function holds(rows: readonly object[], word: string): (row: object) => boolean {
  const test = (row: object): boolean =>
    Object.entries(row).some(([column, value]) =>
      typeof value === "string"
        ? value.toLowerCase() === word
        : Boolean(value) && (column === word || column === \`is_\${word}\`),
    );
  if (rows.length > 0 && !rows.some(test)) throw new Error(\`No row holds "\${word}" in any column.\`);
  return test;
}`,
  },
  findColumn: {
    needs: [],
    code: `/** The column that words mean. That there is none is a mistake. */
function findColumn(rows: readonly object[], ...meanings: string[]): string {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const plain = (text: string) => text.toLowerCase().replace(/[^a-z0-9]+/g, "").replace(/s$/, "");
  for (const meaning of meanings) {
    const found =
      columns.find((column) => plain(column) === plain(meaning)) ??
      columns.find((column) => plain(column).startsWith(plain(meaning)));
    if (found !== undefined) return found;
  }
  const [asked = ""] = meanings;
  if (rows.length === 0) return asked;
  throw new Error(\`There is no column for "\${asked}". There are: \${columns.join(", ")}.\`);
}`,
  },
  fieldOf: {
    needs: [],
    code: `/** A field of a record, or of every record of a list. That it is not there is a mistake. */
function fieldOf(data: unknown, field: string): unknown {
  if (Array.isArray(data)) return data.map((item: unknown) => fieldOf(item, field));
  const plain = (text: string) => text.toLowerCase().replace(/[^a-z0-9]+/g, "").replace(/s$/, "");
  const entries = Object.entries(typeof data === "object" && data !== null ? data : {});
  const found = entries.find(([key]) => key === field) ?? entries.find(([key]) => plain(key) === plain(field));
  if (found !== undefined) return found[1];
  throw new Error(\`There is no \${field}. There are: \${entries.map(([key]) => key).join(", ")}.\`);
}`,
  },
  numberIn: {
    needs: ["fieldOf"],
    code: `/** A number in a field of a record. That it is none is a mistake. */
function numberIn(data: unknown, field: string): number {
  const value = fieldOf(data, field);
  if (typeof value !== "number") throw new Error(\`\${field} is no number: \${JSON.stringify(value)}.\`);
  return value;
}`,
  },
  partOf: {
    needs: [],
    code: `/** What an entry of a list says of a field; an entry that is no record is it itself. */
function partOf(entry: unknown, field: string): unknown {
  if (typeof entry !== "object" || entry === null) return entry;
  if (field in entry) return entry[field as keyof typeof entry];
  throw new Error(\`There is no \${field}. There are: \${Object.keys(entry).join(", ")}.\`);
}`,
  },
  toText: {
    needs: [],
    code: `/** Text as it is, everything else as JSON. */
function toText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}`,
  },
  readable: {
    needs: [],
    code: `/** A number without the noise of floating point: 124.95 instead of 124.94999999999999. */
function readable(value: number): number {
  if (!Number.isFinite(value) || Number.isInteger(value)) return value;
  const rounded = Number(value.toPrecision(15));
  return String(value).length - String(rounded).length >= 3 ? rounded : value;
}`,
  },
  equals: {
    needs: [],
    code: `/** Whether two values are the same, upper and lower case aside. */
function equals(value: unknown, expected: unknown): boolean {
  return String(value).toLowerCase() === String(expected).toLowerCase();
}`,
  },
  compare: {
    needs: [],
    code: `/** Orders numbers by size and everything else by its text. */
function compare(a: unknown, b: unknown): number {
  if (typeof a === "object" && a !== null) throw new Error("Rows have no order of their own. Say which column to sort by.");
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b));
}`,
  },
  numbersIn: {
    needs: [],
    code: `/** The numbers in a column. A column that has none is a mistake, not a zero. */
function numbersIn<Row extends object>(rows: readonly Row[], column: keyof Row & string): number[] {
  const numbers = rows.map((row) => row[column]).filter((value) => typeof value === "number");
  if (rows.length > 0 && numbers.length === 0) throw new Error(\`No row has a number in \${column}.\`);
  return numbers;
}`,
  },
  numbersOf: {
    needs: [],
    code: `/** A list of numbers. Anything else in it is a mistake. */
function numbersOf(list: unknown): number[] {
  if (!Array.isArray(list)) throw new Error("This is no list.");
  return list.map((value: unknown) => {
    if (typeof value !== "number") throw new Error(\`\${JSON.stringify(value)} is no number.\`);
    return value;
  });
}`,
  },
  average: {
    needs: [],
    code: `function average(numbers: readonly number[]): number | null {
  if (numbers.length === 0) return null;
  return numbers.reduce((sum, value) => sum + value, 0) / numbers.length;
}`,
  },
  median: {
    needs: [],
    code: `function median(numbers: readonly number[]): number | null {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle];
  if (upper === undefined) return null;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2;
}`,
  },
  countBy: {
    needs: [],
    code: `/** How many rows there are for each value of a column. */
function countBy<Row extends object>(
  rows: readonly Row[],
  column: keyof Row & string,
): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const row of rows) {
    if (!(column in row)) throw new Error(\`There is no column \${column}.\`);
    const key = String(row[column]);
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}`,
  },
  groupBy: {
    needs: [],
    code: `/** The rows for each value of a column. */
function groupBy<Row extends object>(
  rows: readonly Row[],
  column: keyof Row & string,
): Record<string, Row[]> {
  const groups: Record<string, Row[]> = {};
  for (const row of rows) {
    if (!(column in row)) throw new Error(\`There is no column \${column}.\`);
    (groups[String(row[column])] ??= []).push(row);
  }
  return groups;
}`,
  },
  statisticsOf: {
    needs: ["average", "median"],
    code: `/** How many rows there are, and the spread of every column of numbers; identifiers are left out. */
function statisticsOf(rows: readonly object[]) {
  const records: ${ROW}[] = rows.map((row) => ({ ...row }));
  const columns = [...new Set(records.flatMap((row) => Object.keys(row)))];
  const spreads = columns.flatMap((column) => {
    const numbers = records.map((row) => row[column]).filter((value) => typeof value === "number");
    if (numbers.length === 0 || /(?:^|_)id$/i.test(column)) return [];
    const spread = {
      count: numbers.length,
      min: Math.min(...numbers),
      max: Math.max(...numbers),
      mean: average(numbers),
      median: median(numbers),
    };
    return [[column, spread] as const];
  });
  return { count: rows.length, ...Object.fromEntries(spreads) };
}`,
  },
  isSet: {
    needs: [],
    code: `/** Whether a cell holds something. */
function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== "";
}`,
  },
  percentage: {
    needs: [],
    code: `/** How many of a hundred. Of nothing there is none. */
function percentage(part: number, whole: number): number | null {
  return whole === 0 ? null : (part / whole) * 100;
}`,
  },
  distinct: {
    needs: [],
    code: `/** Every entry once. */
function distinct<Item>(list: readonly Item[]): Item[] {
  return [...new Map(list.map((item) => [JSON.stringify(item), item])).values()];
}`,
  },
  inUnit: {
    needs: [],
    code: `/** The rows, unless they tell another unit or currency than the one that was meant. */
function inUnit<Row extends object>(rows: readonly Row[], ...meant: string[]): readonly Row[] {
  const plain = (text: string) => text.toLowerCase().replaceAll(" ", "");
  for (const [column, value] of rows.flatMap((row) => Object.entries(row))) {
    if (!/(?:^|_)(?:unit|currency)$/i.test(column) || meant.some((one) => plain(one) === plain(String(value)))) continue;
    throw new Error(\`The \${column} is \${String(value)}, not \${meant[0]}.\`);
  }
  return rows;
}`,
  },
  rowsOf: {
    needs: [],
    code: `/** The rows of a list, or of the list that an object holds by that name, or alone. */
function rowsOf(data: unknown, name: string): ${ROW}[] {
  const lists = Object.entries(typeof data === "object" && data !== null ? data : {}).filter(([, value]) => Array.isArray(value));
  const list = Array.isArray(data) ? data : (lists.find(([key]) => key === name) ?? (name === "items" && lists.length === 1 ? lists[0] : undefined))?.[1];
  if (!Array.isArray(list)) throw new Error(\`There is no list of \${name}. There are: \${lists.map(([key]) => key).join(", ")}.\`);
  return list;
}`,
  },
  rowsOfCsv: {
    needs: [],
    code: `/** The rows of CSV text by its header; a column of numbers holds numbers. */
function rowsOfCsv(text: string): ${ROW}[] {
  const records: string[][] = [[]];
  const cell = /(?:"((?:[^"]|"")*)"|([^",\\r\\n]*))(,|\\r?\\n|$)/y;
  const source = text.replace(/^\\uFEFF/, "");
  for (let at = 0; at < source.length || source[at - 1] === ","; at = cell.lastIndex) {
    cell.lastIndex = at;
    const match = cell.exec(source);
    if (match === null) throw new Error(\`The CSV has a quotation mark out of place in record \${records.length}.\`);
    records.at(-1)?.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? "");
    if (match[3] === "") break;
    if (match[3] !== ",") records.push([]);
  }
  const [header = [], ...rows] = records.filter((record) => record.length > 1 || (record[0] ?? "") !== "");
  const isNumber = (value = "") => /^-?(?:0|[1-9]\\d*)(?:\\.\\d+)?$/.test(value);
  const numeric = header.map((_, at) => rows.some((row) => row[at] !== "") && rows.every((row) => row[at] === "" || isNumber(row[at])));
  return rows.map((row) =>
    Object.fromEntries(header.map((column, at) => [column, numeric[at] === true && row[at] !== "" ? Number(row[at]) : (row[at] ?? "")])),
  );
}`,
  },
} as const satisfies Record<string, { needs: readonly string[]; code: string }>;

export type HelperName = keyof typeof HELPERS;

/** The name of a helper, to be called. */
export function useHelper(helper: HelperName): Expression {
  return name(helper);
}

/** The code of the helpers that a program calls, and of those that they call. */
export function helperCode(called: ReadonlySet<string>): string[] {
  const wanted = new Set<HelperName>();
  const want = (helper: HelperName): void => {
    for (const needed of HELPERS[helper].needs) want(needed);
    wanted.add(helper);
  };
  for (const helper of HELPER_NAMES) if (called.has(helper)) want(helper);
  return [...wanted].map((helper) => HELPERS[helper].code);
}

export const HELPER_NAMES = Object.keys(HELPERS) as HelperName[];
