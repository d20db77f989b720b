import { approvalRemark, messageOf, signaturesOf, type ListSettings } from "@cem/tool-files/answers";
import { openHandle } from "@cem/core/files";
import { exampleCall, findServer, toolId } from "@cem/core";
import type { Agent, CatalogSnapshot, RankedTool, ToolDefinition, ToolServer } from "@cem/core";
import { describeCalls } from "@cem/tool-files";
import type { CallToolResult } from "@modelcontextprotocol/server";
import { MAX_SEARCH_RESULTS } from "../limits.ts";
import { READ_ONLY, answerValue, declareTool, text } from "./server-tool.ts";

const NAMES = { type: "array", items: text } as const;
const NO_INPUT = { type: "object", properties: {} } as const;

const listAvailableTools = declareTool<unknown>({
  name: "list_available_tools",
  title: "List tools",
  profiles: ["full", "original"],
  description: "All tools by server; of many, use search_tools first.",
  input: NO_INPUT,
  output: { type: "object", additionalProperties: NAMES },
  annotations: READ_ONLY,
  async handle(_input, host, { mcpReq: { signal } }) {
    const servers = await serversOf(host.agent, signal);
    const names = Object.fromEntries(servers.map(({ name, tools }) => [name, tools.map(nameOf)]));
    return withRemark(answerValue(names), servers, host);
  },
});

const listServers = declareTool<unknown>({
  name: "list_servers",
  title: "List servers",
  profiles: ["full", "original"],
  description: "Names of the tool servers.",
  input: NO_INPUT,
  output: NAMES,
  annotations: READ_ONLY,
  async handle(_input, { agent }, { mcpReq: { signal } }) {
    const servers = await serversOf(agent, signal);
    return answerValue(servers.map(({ name }) => name));
  },
});

const getServerTools = declareTool<{ server_name: string }>({
  name: "get_server_tools",
  title: "List a server's tools",
  profiles: ["full", "original"],
  description: "Names of one server's tools.",
  input: { type: "object", properties: { server_name: text }, required: ["server_name"] },
  output: NAMES,
  annotations: READ_ONLY,
  async handle({ server_name: wanted }, host, { mcpReq: { signal } }) {
    const { servers, problems } = await host.agent.discoverTools({ signal, servers: [wanted] });
    const server = findServer(wanted, { servers: withoutSkills(servers), problems });
    return withRemark(answerValue(server.tools.map(nameOf)), [server], host);
  },
});

/** Adds to a list of names which of the tools need approval. */
function withRemark(
  answer: CallToolResult,
  servers: readonly ToolServer[],
  settings: ListSettings,
): CallToolResult {
  const asked = servers.flatMap(({ name, tools }) => {
    const names = tools.filter((tool) => tool.needsApproval).map(nameOf);
    return names.length === 0 ? [] : [`${name}: ${names.length === tools.length ? "all" : names.join(", ")}`];
  });
  if (asked.length === 0) return answer;
  const text = `${asked.join("; ")}. ${approvalRemark(settings)}`;
  return { ...answer, content: [...answer.content, { type: "text", text }] };
}

/** The tool servers. Skills are left out: they belong to no server and are found by search. */
async function serversOf(agent: Agent, signal: AbortSignal): Promise<ToolServer[]> {
  return withoutSkills((await agent.discoverTools({ signal })).servers);
}

function withoutSkills(servers: readonly ToolServer[]): ToolServer[] {
  return servers.filter(({ kind }) => kind !== "skill");
}

function nameOf({ name }: ToolDefinition | ToolServer): string {
  return name;
}

const DEFAULT_RESULTS = 10;
/** About 750 tokens of signatures if no limit is given, since the first few tools are usually those that are needed. */
const MAX_SIGNATURE_CHARACTERS = 3_000;
/** Minimum number of results, whatever the length of their signatures. */
const LEAST_RESULTS = 2;
/** The fraction of the best score above which a tool's signature is shown. Others near the best are only named. */
const SIGNATURE_SHARE = 0.5;
const MAX_OTHERS = 15;
const MAX_DOUBTFUL = 8;
/** Many clients start the server outside of the project. */
const NO_TOOLS =
  "There are no tools here yet. Those of a project take cem serve --config <its config.yaml>, or a start in its folder.";
/** Maximum number of servers named if nothing was found. */
const MAX_NAMED_SERVERS = 20;
/** Maximum number of servers without tools whose reason is told then. */
const MAX_EXPLAINED = 3;

type Detail = "signature" | "name" | "description" | "full";

const searchTools = declareTool<{
  query: string;
  detail_level?: Detail | undefined;
  max_results?: number | undefined;
}>({
  name: "search_tools",
  title: "Search tools",
  profiles: ["full", "code", "original"],
  description: ({ guest }) =>
    `Find tools by purpose, with signatures; full adds examples and code.${guest.hasMcpServers === true ? " Resources and prompts have tools too." : ""}`,
  input: {
    type: "object",
    properties: {
      query: text,
      // Gemini refuses an enum without a type, and the whole list with it.
      detail_level: { ...text, enum: ["signature", "name", "description", "full"] },
      max_results: { type: "integer", minimum: 1, maximum: MAX_SEARCH_RESULTS },
    },
    required: ["query"],
  },
  output: { type: "object" },
  annotations: READ_ONLY,
  async handle({ query, detail_level: detail = "signature", max_results: wanted }, host, context) {
    const { signal } = context.mcpReq;
    const notes: string[] = [];
    // One more than the maximum, to detect whether there are more.
    const all = await host.agent.searchTools(query, { limit: MAX_SEARCH_RESULTS + 1, signal });
    const isShort = wanted === undefined && detail === "signature";
    const found = isShort ? shortList(all, host) : all.slice(0, wanted ?? DEFAULT_RESULTS);
    const also = isShort ? namesBeside(found, all) : [];
    if (also.length > 0) {
      const how = found.length > 0 ? "Also" : "Perhaps nothing fits. Nearest";
      notes.push(`${how}: ${also.join(", ")}. Names as the query give their signatures.`);
    } else if (all.length > found.length) notes.push(moreMatches(all.length, found.length));
    if (found.length === 0) {
      const snapshot = await host.agent.discoverTools({ signal });
      notes.push(...(all.length === 0 ? [whatToTry(snapshot)] : []), ...whyAbsent(snapshot));
    }
    const answer = await answerFound(found, detail, host, also);
    if (notes.length > 0) answer.content.push({ type: "text", text: notes.join(" ") });
    return answer;
  },
});

export const CATALOG_TOOLS = [searchTools, listServers, getServerTools, listAvailableTools];

/**
 * Selects the best tools within a total length of signatures, but at least a few; none if the search is uncertain. Equal
 * tools of several servers count once. Long signatures omit the comments on result fields, since the names are mostly
 * self-explanatory.
 */
export function shortList(all: readonly RankedTool[], settings: ListSettings = {}): readonly RankedTool[] {
  const [top] = all;
  const least = top?.isDoubtful === true ? Infinity : SIGNATURE_SHARE * (top?.score ?? 0);
  const near = all.filter(({ score }) => score >= least);
  const best = [...alike(near).values()].slice(0, DEFAULT_RESULTS).flat();
  const lengthOf = (found: readonly RankedTool[]): number =>
    signaturesOf(
      found.map(({ tool }) => tool),
      settings,
    ).text.length;
  const shown = best.map((found): RankedTool => {
    const { outputSchema } = found.tool;
    if (outputSchema === undefined || lengthOf([found]) < MAX_SIGNATURE_CHARACTERS / 4) return found;
    return { ...found, tool: { ...found.tool, outputSchema: withoutDescriptions(outputSchema) } };
  });
  let count = shown.length;
  while (count > LEAST_RESULTS && lengthOf(shown.slice(0, count)) > MAX_SIGNATURE_CHARACTERS) count -= 1;
  return shown.slice(0, count);
}

/** Groups equal tools of several servers. */
function alike(found: readonly RankedTool[]): Map<string, RankedTool[]> {
  return Map.groupBy(found, ({ tool }) => `${tool.signature}\n${tool.description}`);
}

/** The names of further tools that were found, best first. */
function namesBeside(shown: readonly RankedTool[], all: readonly RankedTool[]): string[] {
  const isShown = alike(shown);
  const most = shown.length > 0 ? MAX_OTHERS : MAX_DOUBTFUL;
  const others = [...alike(all)].filter(([key]) => !isShown.has(key)).slice(0, most);
  return others.flatMap(([, [one]]) => (one === undefined ? [] : toolId(one.tool)));
}

/** Removes descriptions from a schema. A property named `description` is kept, since its value is not a text. */
function withoutDescriptions<Schema extends object>(schema: Schema): Schema {
  const keep = (key: string, value: unknown): unknown =>
    key === "description" && typeof value === "string" ? undefined : value;
  return JSON.parse(JSON.stringify(schema, keep)) as Schema;
}

async function answerFound(
  found: readonly RankedTool[],
  detail: Detail,
  settings: ListSettings,
  also: readonly string[],
): Promise<CallToolResult> {
  const tools = found.map(({ tool }) => tool);
  switch (detail) {
    case "signature": {
      const { data, text: shown } = signaturesOf(tools, settings);
      const content = tools.length === 0 ? [] : [{ type: "text" as const, text: shown }];
      return { content, structuredContent: also.length === 0 ? data : { ...data, also } };
    }
    case "name":
      return answerValue(byServer(tools, (all) => all.map(nameOf)));
    case "description":
      return answerValue(byServer(tools, (all) => byName(all, ({ description }) => ({ description }))));
    case "full": {
      const codes = await Promise.all(tools.map((tool, at) => codeOf(tool, at, settings)));
      return answerValue(byServer(tools, (all) => byName(all, (tool) => codes[tools.indexOf(tool)])));
    }
  }
}

/** Groups results as `{server: …}`, ordered by the best match of each server. */
function byServer(
  tools: readonly ToolDefinition[],
  show: (tools: readonly ToolDefinition[]) => object,
): object {
  const servers = Map.groupBy(tools, ({ server }) => server);
  return Object.fromEntries([...servers].map(([server, all]) => [server, show(all)]));
}

function byName(tools: readonly ToolDefinition[], show: (tool: ToolDefinition) => object | undefined) {
  return Object.fromEntries(tools.map((tool) => [tool.name, show(tool)]));
}

function moreMatches(found: number, limit: number): string {
  if (found <= MAX_SEARCH_RESULTS) return `${found - limit} more match: "max_results": ${found} shows them.`;
  const rest = limit < MAX_SEARCH_RESULTS ? `"max_results" up to ${MAX_SEARCH_RESULTS} shows more, or ` : "";
  return `More than ${MAX_SEARCH_RESULTS - limit} more match: ${rest}use a narrower query.`;
}

/** The reasons of servers that have no tools: the one that is needed may be among them. */
function whyAbsent({ servers, problems }: CatalogSnapshot): string[] {
  if (withoutSkills(servers).length === 0) return [];
  const known = new Set(servers.map(nameOf));
  const absent = problems.filter(({ server }) => server !== "" && !known.has(server));
  return absent.slice(0, MAX_EXPLAINED).map(({ message }) => message);
}

function whatToTry({ servers: all, problems }: CatalogSnapshot): string {
  const servers = withoutSkills(all);
  const names = servers.slice(0, MAX_NAMED_SERVERS).map(({ name }) => name);
  if (names.length === 0) return problems[0]?.message ?? NO_TOOLS;
  const left = servers.length - names.length;
  const others = left > 0 ? ` and ${left} more` : "";
  return `No tool is about these words. Try others, or the name of a server: ${names.join(", ")}${others}.`;
}

/** Maximum number of tools whose code is shown, best first. */
const MAX_SHOWN_CODES = 3;

/** Full details of a tool, for a model that needs to write one call carefully. The best tools include their code. */
async function codeOf(tool: ToolDefinition, at: number, { hintFor, canAsk }: ListSettings): Promise<object> {
  const { name, module, description, unavailable, needsApproval } = tool;
  const { types, signatures } = describeCalls([tool]);
  const notes = needsApproval === true ? [`// ${approvalRemark({ canAsk })}`] : [];
  return {
    code: [`import { ${name} } from "${module}";`, ...types, ...signatures, ...notes].join("\n"),
    example: exampleCall(tool),
    description,
    unavailable: unavailable && messageOf(unavailable, hintFor),
    source: at < MAX_SHOWN_CODES ? await readToolCode(tool) : undefined,
  };
}

/** Maximum code shown of one tool, in bytes. */
export const MAX_TOOL_CODE_BYTES = 6 * 1024;

/**
 * Reads the code of a tool that is a file in the project, up to {@link MAX_TOOL_CODE_BYTES}.
 *
 * @returns `undefined` for a tool on the host, whose file only calls it, and for an unreadable file.
 */
export async function readToolCode({ kind, file }: ToolDefinition): Promise<string | undefined> {
  if (kind === "host" || file === undefined) return undefined;
  try {
    await using handle = await openHandle(file);
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(MAX_TOOL_CODE_BYTES + 1), 0);
    const shown = buffer.subarray(0, Math.min(bytesRead, MAX_TOOL_CODE_BYTES));
    // A truncated character at the end is left out.
    const text = new TextDecoder().decode(shown, { stream: true });
    return bytesRead > MAX_TOOL_CODE_BYTES ? `${text}\n// … the rest of the file is left out` : text;
  } catch {
    return undefined;
  }
}
