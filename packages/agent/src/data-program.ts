import type { Database } from "./data-facts.ts";

/** How much of a file is read, in bytes. */
const MAX_FILE_BYTES = 64 * 1024;
const MAX_LINES = 3;
const MAX_LINE_CHARACTERS = 200;
const MAX_TABLES = 12;
const MAX_TABLE_CHARACTERS = 400;
const MAX_SCHEMA_CHARACTERS = 3_000;

/** What the program has of its own. Plain JavaScript, since it is text to other code. */
const HELPERS = `
const clip = (text, most) => (text.length > most ? text.slice(0, most) + "…" : text);
const rowsOf = (value) => Array.isArray(value) ? value : Object.values(value ?? {}).find(Array.isArray) ?? [];
const nameOf = (row) => typeof row === "string" ? row : row?.name ?? row?.table_name ?? row?.table ?? row?.tablename;
const columnsOf = (value) => rowsOf(value).map((one) => {
  const name = nameOf(one) ?? one?.column_name ?? one?.column;
  const type = one?.type ?? one?.data_type;
  return name === undefined ? undefined : type ? name + " " + type : name;
});
const tableText = (name, value) => {
  const columns = columnsOf(value);
  const isKnown = columns.length > 0 && !columns.includes(undefined);
  return clip(name + (isKnown ? "(" + columns.join(", ") + ")" : ": " + JSON.stringify(value)), ${MAX_TABLE_CHARACTERS});
};
const shapeOf = (value, depth = 2) => {
  if (Array.isArray(value)) return value.length === 0 ? "[]" : shapeOf(value[0], depth) + "[]";
  if (value === null || typeof value !== "object") return value === null ? "null" : typeof value;
  if (depth === 0) return "object";
  const keys = Object.keys(value);
  const shown = keys.slice(0, 20).map((key) => key + ": " + shapeOf(value[key], depth - 1));
  return "{ " + shown.join(", ") + (keys.length > 20 ? ", …" : "") + " }";
};
const readStart = async (path) => {
  const file = await Deno.open("/workspace/" + path);
  try {
    const { size } = await file.stat();
    const bytes = new Uint8Array(${MAX_FILE_BYTES});
    const read = (await file.read(bytes)) ?? 0;
    return { size, text: new TextDecoder().decode(bytes.subarray(0, read)) };
  } finally {
    file.close();
  }
};
const fileText = async (path) => {
  const { size, text } = await readStart(path);
  if (text.includes("\\0")) return path + " is not text";
  if (path.endsWith(".json") && size <= ${MAX_FILE_BYTES}) {
    const value = JSON.parse(text);
    return path + ": " + (Array.isArray(value) ? value.length + " items, " : "") + clip(shapeOf(value), ${MAX_TABLE_CHARACTERS});
  }
  const lines = text.split("\\n");
  const start = lines.slice(0, ${MAX_LINES}).map((line) => "  " + clip(line.trimEnd(), ${MAX_LINE_CHARACTERS}));
  return [path + " (" + size + " bytes) begins:", ...start].join("\\n");
};
const facts = [];
const tell = async (work) => {
  try { facts.push(await work()); } catch { /* What can't be read is not told. */ }
};
`;

/** Writes the program that reads facts about databases and files and returns them as text. */
export function programThatReads(databases: readonly Database[], files: readonly string[]): string {
  const imports = databases.map(({ module, list, describe }, at) => {
    const names = [`${list} as list${at}`, ...(describe ? [`${describe.tool} as describe${at}`] : [])];
    return `import { ${names.join(", ")} } from ${JSON.stringify(module)};`;
  });
  const reads = databases.map((database, at) => `await tell(async () => {\n${readingOf(database, at)}\n});`);
  const begins = files.map((path) => `await tell(() => fileText(${JSON.stringify(path)}));`);
  return [...imports, HELPERS, ...reads, ...begins, 'export default facts.join("\\n");', ""].join("\n");
}

function readingOf({ server, describe }: Database, at: number): string {
  const title = JSON.stringify(`Tables of ${server}: `);
  if (describe === undefined) {
    return `  return ${title} + clip(JSON.stringify(await list${at}({})), ${MAX_SCHEMA_CHARACTERS});`;
  }
  const argument = JSON.stringify(describe.argument);
  return `  const names = rowsOf(await list${at}({})).map(nameOf).filter((name) => typeof name === "string");
  const described = await Promise.all(names.slice(0, ${MAX_TABLES}).map(async (name) =>
    tableText(name, await describe${at}({ [${argument}]: name }))));
  const more = names.length > ${MAX_TABLES} ? "\\nand " + (names.length - ${MAX_TABLES}) + " more" : "";
  return clip(${title} + described.join("\\n") + more, ${MAX_SCHEMA_CHARACTERS});`;
}
