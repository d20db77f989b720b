/** Helper functions that are included in a program on demand, separated by empty lines. */
export const HELPER_CODE = `
/** A field of a record. A missing field is an error. */
function fieldOf(data: unknown, field: string): unknown {
  const plain = (text: string) => text.toLowerCase().replace(/[^a-z0-9]+/g, "");
  const entries = Object.entries(typeof data === "object" && data !== null ? data : {});
  const found = entries.find(([key]) => key === field) ?? entries.find(([key]) => plain(key) === plain(field));
  if (found !== undefined) return found[1];
  throw new Error(\`There is no \${field}. There are: \${entries.map(([key]) => key).join(", ")}.\`);
}

/** A number in a field of a record. Anything else in it is an error. */
function numberIn(data: unknown, field: string): number {
  const value = fieldOf(data, field);
  if (typeof value !== "number") throw new Error(\`\${field} is not a number: \${JSON.stringify(value)}.\`);
  return value;
}

/** A list in a field of a record. Anything else in it is an error. */
function listIn(data: unknown, field: string): unknown[] {
  const value = fieldOf(data, field);
  if (!Array.isArray(value)) throw new Error(\`\${field} is not a list: \${JSON.stringify(value)}.\`);
  return value;
}

/** An object, to set its fields. A list or a single value is an error. */
function recordOf(data: unknown): Record<string, unknown> {
  if (typeof data !== "object" || data === null || Array.isArray(data)) throw new Error("This is not a JSON object with fields.");
  return data as Record<string, unknown>;
}

/** The JSON object in a file, or an empty one where there is no file yet. */
async function readState(path: string): Promise<Record<string, unknown>> {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    if (error instanceof Error && ("code" in error ? error.code === "ENOENT" : error.name === "NotFound")) return "{}";
    throw error;
  });
  return recordOf(JSON.parse(text));
}

/** Text as it is, everything else as JSON. */
function toText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

/** A result that has to be a number. */
function numberOf(value: unknown): number {
  if (typeof value !== "number") throw new Error(\`\${JSON.stringify(value)} is not a number.\`);
  return value;
}

/** A number without the noise of floating point: 124.95 instead of 124.94999999999999. */
function readable(value: number): number {
  if (!Number.isFinite(value) || Number.isInteger(value)) return value;
  const rounded = Number(value.toPrecision(15));
  return String(value).length - String(rounded).length >= 3 ? rounded : value;
}

/** A list of numbers. Anything else in it is an error. */
function numbersOf(list: unknown): number[] {
  if (!Array.isArray(list)) throw new Error("This is not a list of numbers.");
  return list.map((value: unknown) => numberOf(value));
}

function total(numbers: readonly number[]): number {
  return readable(numbers.reduce((sum, value) => sum + value, 0));
}

function average(numbers: readonly number[]): number | null {
  if (numbers.length === 0) return null;
  return readable(numbers.reduce((sum, value) => sum + value, 0) / numbers.length);
}

function median(numbers: readonly number[]): number | null {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle];
  if (upper === undefined) return null;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2;
}

function largest(numbers: readonly number[]): number | null {
  return numbers.length === 0 ? null : numbers.reduce((a, b) => Math.max(a, b));
}

function smallest(numbers: readonly number[]): number | null {
  return numbers.length === 0 ? null : numbers.reduce((a, b) => Math.min(a, b));
}

/** The rows of a list, or of the only list in an object. One page of several is an error. */
function rowsOf(data: unknown): Record<string, unknown>[] {
  const entries = Object.entries(typeof data === "object" && data !== null && !Array.isArray(data) ? data : {});
  const lists = entries.filter(([, value]) => Array.isArray(value));
  const list: unknown = Array.isArray(data) ? data : lists.length === 1 ? lists[0]?.[1] : undefined;
  if (!Array.isArray(list)) throw new Error("The result is not a list of rows.");
  const more = entries.find(([key, value]) =>
    /^(?:next|has_?more|.*cursor|is_?truncated|incomplete)/i.test(key) ? Boolean(value) : /total/i.test(key) && typeof value === "number" && value > list.length,
  );
  if (more !== undefined) throw new Error(\`The result is one page of more rows (\${more[0]}).\`);
  if (list.some((row) => typeof row !== "object" || row === null)) throw new Error("The list holds single values, not rows with columns.");
  return list;
}

/** The column that one of some words means. That there is none is an error. */
function columnOf(rows: readonly object[], ...meanings: string[]): string {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const plain = (text: string) => text.toLowerCase().replace(/[^a-z0-9]+/g, "").replace(/s$/, "");
  for (const meaning of meanings) {
    const found = columns.find((column) => column === meaning) ?? columns.find((column) => plain(column) === plain(meaning));
    if (found !== undefined) return found;
  }
  throw new Error(\`There is no column \${meanings[0]}. There are: \${columns.join(", ") || "no rows"}.\`);
}

/** The values of a column. */
function valuesIn(rows: readonly object[], ...meanings: string[]): unknown[] {
  if (rows.length === 0) return [];
  const column = columnOf(rows, ...meanings);
  return rows.map((row) => row[column as keyof typeof row] ?? null);
}

/** The first entries of a list, each once. That there are fewer is an error. */
function firstOf(list: readonly unknown[], count: number): unknown[] {
  const entries = [...new Set(list)];
  if (!Number.isInteger(count) || count < 0 || entries.length < count) throw new Error(\`There are \${entries.length}, not \${count}.\`);
  return entries.slice(0, count);
}

/** The numbers of a column; empty cells are left out. Anything else in it is an error. */
function numbersIn(rows: readonly object[], ...meanings: string[]): number[] {
  return valuesIn(rows, ...meanings).flatMap((value) => {
    if (value === null || value === "") return [];
    if (typeof value !== "number") throw new Error(\`\${JSON.stringify(value)} in \${meanings[0]} is not a number.\`);
    return [value];
  });
}

/** Tests rows for a text in a column, or for a column of that name that is true. That none has it is an error. */
function holds(rows: readonly object[], word: string): (row: object) => boolean {
  const plain = word.toLowerCase();
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const flag = columns.find((column) => column.toLowerCase() === plain || column.toLowerCase() === \`is_\${plain}\`);
  const test = (row: object): boolean =>
    flag === undefined
      ? Object.values(row).some((value) => typeof value === "string" && value.toLowerCase() === plain)
      : row[flag as keyof typeof row] === true || row[flag as keyof typeof row] === 1;
  if (flag === undefined && rows.length > 0 && !rows.some(test)) throw new Error(\`No row holds "\${word}" in any column.\`);
  return test;
}

/** The rows whose column compares so with a value. Comparing text with a number is an error. */
function where<Row extends object>(
  rows: readonly Row[],
  column: string,
  operator: "=" | "!=" | "<" | "<=" | ">" | ">=",
  expected: string | number | boolean | null,
): Row[] {
  if (rows.length === 0) return [];
  const key = columnOf(rows, column) as keyof Row;
  return rows.filter((row) => {
    const value: unknown = row[key] ?? null;
    if (value === null || expected === null) return (operator === "=" && value === expected) || (operator === "!=" && value !== expected);
    if (operator !== "=" && operator !== "!=" && typeof value !== typeof expected) throw new Error(\`\${JSON.stringify(value)} in \${column} can't be compared with \${JSON.stringify(expected)}.\`);
    const order = compare(value, expected);
    const isSame = order === 0 || String(value).toLowerCase() === String(expected).toLowerCase();
    if (operator === "=") return isSame;
    if (operator === "!=") return !isSame;
    if (operator === "<" || operator === "<=") return order < 0 || (operator === "<=" && order === 0);
    return order > 0 || (operator === ">=" && order === 0);
  });
}

/** Orders numbers by size and everything else by its text. */
function compare(a: unknown, b: unknown): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b));
}

/** The rows in the order of a column; rows without a value come last. */
function sortedBy<Row extends object>(rows: readonly Row[], direction: "ascending" | "descending", ...columns: string[]): Row[] {
  if (rows.length === 0) return [];
  const key = columnOf(rows, ...columns) as keyof Row;
  const order = (a: Row, b: Row) => (direction === "ascending" ? compare(a[key], b[key]) : compare(b[key], a[key]));
  const isSet = (row: Row) => row[key] !== null && row[key] !== undefined;
  return [...rows.filter(isSet).toSorted(order), ...rows.filter((row) => !isSet(row))];
}

/** The row with the highest or lowest number in a column. */
function bestOf<Row extends object>(rows: readonly Row[], end: "high" | "low", ...columns: string[]): Row | null {
  if (rows.length === 0) return null;
  const key = columnOf(rows, ...columns) as keyof Row;
  return rows.reduce((best, row) => (end === "high" ? row[key] > best[key] : row[key] < best[key]) ? row : best);
}

/** How many rows there are, and the spread of every column of numbers; identifiers are left out. */
function statisticsOf(rows: readonly object[]) {
  const records: Record<string, unknown>[] = rows.map((row) => ({ ...row }));
  const columns = [...new Set(records.flatMap((row) => Object.keys(row)))];
  const spreads = columns.flatMap((column) => {
    const numbers = records.map((row) => row[column]).filter((value) => typeof value === "number");
    if (numbers.length === 0 || /(?:^|_)id$/i.test(column)) return [];
    const [min, max, mean, middle] = [smallest(numbers), largest(numbers), average(numbers), median(numbers)];
    return [[column, { count: numbers.length, min, max, mean, median: middle }] as const];
  });
  return { count: rows.length, ...Object.fromEntries(spreads) };
}

/** The rows of CSV text by its header; a column of numbers holds numbers. */
function rowsOfCsv(text: string): Record<string, unknown>[] {
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
}
`;
