import { CemError, type Agent, type ToolDefinition } from "@cem/core";
import { createTokenBudget, loadTokenCounter, takeFitting, type TokenCounter } from "@cem/core/tokens";
import { FAILED_TOOLS, HOW_TO_CODE, signaturesOf } from "@cem/tool-files/answers";
import type { ApprovedCodeOptions, SearchToolsOptions } from "./options.ts";

/** Maximum number of tools ranked for a task. */
const MAX_RANKED = 200;
/** Maximum number of servers named in addition to those whose tools are shown. */
const MAX_NAMED_SERVERS = 20;

/** Describes how to write code, with as many signatures as fit into the token budget. */
export async function describeExecution(
  agent: Agent,
  { task, signatureTokens = 2_000 }: ApprovedCodeOptions,
) {
  const rules = [HOW_TO_CODE, FAILED_TOOLS, LARGE_RESULTS].join(" ");
  const { servers } = await agent.discoverTools();
  const groups = servers.map(({ tools }) => tools.filter(isCallable));
  const all = groups.flat();
  if (all.length === 0) return `${rules} There are no tools here: code works with files alone.`;
  const count = await loadTokenCounter();
  const ranked = !task?.trim() ? [] : await agent.searchTools(task, { limit: MAX_RANKED });
  const ordered = [...new Set([...ranked.map(({ tool }) => tool).filter(isCallable), ...inTurns(groups)])];
  const shown = showFitting(ordered, signatureTokens, count);
  const rest = servers.filter(({ tools }) => tools.some((tool) => !shown.tools.has(tool)));
  const more = all.length > shown.tools.size ? [moreTools(all.length - shown.tools.size, rest)] : [];
  return [rules, shown.text, ...more].filter((part) => part !== "").join("\n\n");
}

const LARGE_RESULTS = "A large result comes as a handle {path, size}: read the file in code.";

function showFitting(ordered: readonly ToolDefinition[], tokens: number, count: TokenCounter) {
  const budget = createTokenBudget(tokens, count);
  const fitting = takeFitting(budget, ordered, (tool) => signaturesOf([tool]).text);
  let text = textOf(fitting);
  // Types shared by several tools are written once, under a name, which may take more tokens than it saves.
  while (fitting.length > 0 && count(text) > tokens) {
    fitting.pop();
    text = textOf(fitting);
  }
  return { tools: new Set(fitting), text };
}

function textOf(tools: readonly ToolDefinition[]): string {
  return tools.length === 0 ? "" : signaturesOf(tools).text;
}

/** Interleaves servers: the first tool of each, then the second of each, so that a large server does not crowd out the others. */
function inTurns(groups: readonly (readonly ToolDefinition[])[]): ToolDefinition[] {
  const longest = Math.max(...groups.map(({ length }) => length));
  return Array.from({ length: longest }, (_, at) => groups.map((group) => group[at]))
    .flat()
    .filter((tool) => tool !== undefined);
}

function isCallable({ unavailable }: ToolDefinition): boolean {
  return unavailable === undefined;
}

function moreTools(count: number, servers: readonly { name: string }[]): string {
  const names = servers.slice(0, MAX_NAMED_SERVERS).map(({ name }) => name);
  const others = servers.length > names.length ? ` and ${servers.length - names.length} more servers` : "";
  return `${count} more ${count === 1 ? "tool" : "tools"}, of ${names.join(", ")}${others}: search_tools shows them.`;
}

/** Returns the signatures of the tools that match a query. */
export async function findTools(
  agent: Agent,
  query: string,
  { limit = 10 }: SearchToolsOptions,
  signal: AbortSignal | undefined,
): Promise<string> {
  try {
    const found = await agent.searchTools(query, { limit, signal });
    const tools = found.map(({ tool }) => tool);
    return tools.length === 0 ? "Nothing was found: try other or fewer words." : signaturesOf(tools).text;
  } catch (error) {
    if (CemError.isInstance(error) && error.code === "QUERY_EMPTY") return error.message;
    throw error;
  }
}
