import { abandonOnAbort, type Elicit, type ToolDefinition } from "@cem/core";
import { findOthers, type Offered } from "./candidate-tools.ts";
import { invokerOfRun } from "./execution.ts";
import type { RunContext } from "./stages.ts";

/** Number of bytes read of each file. */
const MAX_FILE_BYTES = 64 * 1024;
const MAX_LINES = 3;
const MAX_LINE_CHARACTERS = 200;
const MAX_TABLES = 12;
const MAX_TABLE_CHARACTERS = 400;
const MAX_SCHEMA_CHARACTERS = 3_000;

/** Helper functions of the program, embedded as text and therefore plain JavaScript. */
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
  try { facts.push(await work()); } catch { /* Files that can't be read are left out. */ }
};
`;

/** Generates the program that reads facts about databases and files and returns them as text. */
function programThatReads(databases: readonly Database[], files: readonly string[]): string {
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

const MAX_DATABASES = 2;
const MAX_FILES = 4;

/** A query tool, and the read-only tools of its server that list and describe what it can query. */
export type Database = NonNullable<ReturnType<typeof databaseOf>>;

const QUERY_ARGUMENT = /^(?:sql|query|statement)$/iu;
const QUERY_TOOL = /query|sql|select/iu;
const LISTS_TABLES = /(?:^|_)(?:tables|schema|schemas|columns)$/iu;
const DESCRIBES_TABLE = /(?:describe|schema|columns)/iu;
const TABLE_ARGUMENT = /^table(?:_?name)?$/iu;
/** A path as people write it, with the ending of a file of text. */
const FILE =
  /(?<![\w./\\~:@-])(?:\/workspace\/|\.\/)?(?<path>(?:[\w-][\w.-]*\/)*[\w-][\w.-]*\.(?:csv|tsv|jsonl?|ndjson|txt|md|log|ya?ml|xml|toml|ini))(?![\w/-]|\.\w)/giu;
const PRIVATE = /secret|credential|passw|token|private|(?:^|\/)sessions\//iu;

export function databasesOf(tools: readonly ToolDefinition[]): Database[] {
  const byModule = Map.groupBy(
    tools.filter(({ callStyle, unavailable }) => callStyle === "object" && unavailable === undefined),
    ({ module }) => module,
  );
  return [...byModule].flatMap(([module, group]) => databaseOf(module, group) ?? []).slice(0, MAX_DATABASES);
}

function databaseOf(module: string, tools: readonly ToolDefinition[]) {
  const isQuery = (tool: ToolDefinition): boolean =>
    QUERY_TOOL.test(tool.name) && parametersOf(tool).names.some((name) => QUERY_ARGUMENT.test(name));
  if (!tools.some(isQuery)) return undefined;
  const reading = tools.filter(({ annotations }) => annotations?.readOnlyHint === true);
  const list = reading.find(
    (tool) => LISTS_TABLES.test(tool.name) && parametersOf(tool).required.length === 0,
  );
  if (list === undefined) return undefined;
  const describe = reading.find((tool) => {
    const [argument = "", ...more] = parametersOf(tool).required;
    return DESCRIBES_TABLE.test(tool.name) && TABLE_ARGUMENT.test(argument) && more.length === 0;
  });
  const [argument = ""] = describe === undefined ? [] : parametersOf(describe).required;
  const { name, server } = list;
  return { server, module, list: name, describe: describe && { tool: describe.name, argument } };
}

function parametersOf({ inputSchema }: ToolDefinition): { names: string[]; required: string[] } {
  const { properties = {}, required = [] } = inputSchema as { properties?: object; required?: string[] };
  return { names: Object.keys(properties), required };
}

/** The files of the workspace that a task names, as paths within it. Those that sound like secrets are left out. */
export function filesNamedIn(task: string): string[] {
  const paths = [...task.matchAll(FILE)].map(({ groups }) => groups?.["path"] ?? "");
  return [...new Set(paths)].filter((path) => !PRIVATE.test(path)).slice(0, MAX_FILES);
}

const TIMEOUT_MS = 3_000;
const MAX_CALLS = 30;
/** A database is described when one of its tools is selected, or among this many closest to the task. */
const CLOSEST_TOOLS = 5;

const askNobody: Elicit = async () => ({ action: "cancel" });

/**
 * Reads facts about the data of a task for a model: the columns of tables that a tool can query, and the beginning of each
 * workspace file that the task names. A program in the sandbox reads them, so it can read no more than the task's own code
 * could. Only tools annotated as read-only are called, and no questions are asked.
 *
 * @returns `undefined` for a generator that asks no model, if disabled, and if there are no facts.
 */
export async function readDataFacts(context: RunContext, task: string, { selection, others }: Offered) {
  const { options, signal, stages } = context;
  if (stages.settings.dataFacts !== true) return undefined;
  const { toolBudget } = await stages.generator.get();
  if (toolBudget === undefined) return undefined;
  const selected = selection.selected.map(({ tool }) => tool);
  const offered = [...selected, ...others];
  const closest = findOthers(context, task, { offered: [], tools: offered }, CLOSEST_TOOLS);
  const found = await abandonOnAbort(closest, signal);
  const needed = new Set([...selected, ...found.map(({ tool }) => tool)].map(({ module }) => module));
  const databases = databasesOf(offered.filter(({ module }) => needed.has(module)));
  const files = filesNamedIn(task);
  if (databases.length + files.length === 0) return undefined;
  const sandbox = await stages.sandbox.get();
  const outcome = await sandbox.run({
    code: programThatReads(databases, files),
    invoker: await invokerOfRun(context, askNobody),
    limits: { timeoutMs: TIMEOUT_MS, calls: MAX_CALLS },
    allowedTools: options.allowedTools,
    session: options.session,
    singleUse: options.singleUse,
    signal,
  });
  if (outcome.status !== "completed" || typeof outcome.value !== "string") return undefined;
  return outcome.value === "" ? undefined : outcome.value;
}
