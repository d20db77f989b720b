import type { Elicit, ToolDefinition } from "@cem/core";
import { findOthers } from "./candidate-tools.ts";
import { programThatReads } from "./data-program.ts";
import { invokerOfRun } from "./execution.ts";
import type { RunContext } from "./run-context.ts";
import type { Offered } from "./selection.ts";

const MAX_DATABASES = 2;
const MAX_FILES = 4;

/** A query tool, and the tools beside it that only read and tell what there is to query. */
export interface Database {
  server: string;
  module: string;
  /** Lists tables, or the whole schema; takes no argument. */
  list: string;
  /** Describes one table, which is the argument of this name. */
  describe?: { tool: string; argument: string } | undefined;
}

const QUERY_ARGUMENT = /^(?:sql|query|statement)$/iu;
const QUERY_TOOL = /query|sql|select/iu;
const LISTS_TABLES = /(?:^|_)(?:tables|schema|schemas|columns)$/iu;
const DESCRIBES_TABLE = /(?:describe|schema|columns)/iu;
const TABLE_ARGUMENT = /^table(?:_?name)?$/iu;
/** A path as people write it, with the ending of a file of text. */
const FILE =
  /(?<![\w./\\~:@-])(?:\/workspace\/|\.\/)?(?<path>(?:[\w-][\w.-]*\/)*[\w-][\w.-]*\.(?:csv|tsv|jsonl?|ndjson|txt|md|log|ya?ml|xml|toml|ini))(?![\w/-]|\.\w)/giu;
const PRIVATE = /secret|credential|passw|token|private|(?:^|\/)sessions\//iu;

/** The databases that these tools query. */
export function databasesOf(tools: readonly ToolDefinition[]): Database[] {
  const byModule = Map.groupBy(
    tools.filter(({ callStyle, unavailable }) => callStyle === "object" && unavailable === undefined),
    ({ module }) => module,
  );
  return [...byModule].flatMap(([module, group]) => databaseOf(module, group) ?? []).slice(0, MAX_DATABASES);
}

function databaseOf(module: string, tools: readonly ToolDefinition[]): Database | undefined {
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
/** A database is told of where one of its tools is among so many that are closest to the task. */
const CLOSEST_TOOLS = 5;

const askNobody: Elicit = async () => ({ action: "cancel" });

/**
 * Reads what a model should know of the data that a task is about: the columns of tables beside a tool that queries them, and how
 * the files of the workspace begin that the task names. A program in the sandbox reads them, so that nothing is read that the
 * task's own code could not. Only tools that say they change nothing are called, and nobody is asked anything.
 *
 * @returns `undefined` for a generator that asks no model, where the settings forbid it, and where there is nothing to tell.
 */
export async function readDataFacts(
  context: RunContext,
  task: string,
  { selection, others }: Offered,
): Promise<string | undefined> {
  const { options, signal, stages } = context;
  if (stages.settings.dataFacts !== true) return undefined;
  const { toolBudget } = await stages.generator.get();
  if (toolBudget === undefined) return undefined;
  const selected = selection.selected.map(({ tool }) => tool);
  const offered = [...selected, ...others];
  const found = await findOthers(context, task, { offered: [], tools: offered }, CLOSEST_TOOLS);
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
