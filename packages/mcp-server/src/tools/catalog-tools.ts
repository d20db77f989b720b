import { exampleCall, serverNotFound } from "@cem/core";
import type { Agent, RankedTool, ToolDefinition, ToolServer } from "@cem/core";
import { nearest } from "@cem/text";
import { MAX_SEARCH_RESULTS } from "../limits.ts";
import { answerValue, declareTool, messageOf, READ_ONLY, text } from "../server-tool.ts";
import type { HintFor } from "../server-tool.ts";
import { readToolCode } from "../tool-code.ts";

const NAMES = { type: "array", items: text } as const;
const NO_INPUT = { type: "object", properties: {} } as const;
const DEFAULT_RESULTS = 10;
/** The most tools whose code is shown, the best first. */
const MAX_SHOWN_CODES = 3;
/** The most servers that are named when nothing was found. */
const MAX_NAMED_SERVERS = 20;

export const listAvailableTools = declareTool<unknown>({
  name: "list_available_tools",
  title: "List tools",
  description: "All tools by server. Long where there are many: search_tools first.",
  input: NO_INPUT,
  output: { type: "object", additionalProperties: NAMES },
  annotations: READ_ONLY,
  async handle(_input, { agent }, { mcpReq: { signal } }) {
    const servers = await serversOf(agent, signal);
    return answerValue(Object.fromEntries(servers.map(({ name, tools }) => [name, tools.map(nameOf)])));
  },
});

export const listServers = declareTool<unknown>({
  name: "list_servers",
  title: "List servers",
  description: "Names of the tool servers.",
  input: NO_INPUT,
  output: NAMES,
  annotations: READ_ONLY,
  async handle(_input, { agent }, { mcpReq: { signal } }) {
    const servers = await serversOf(agent, signal);
    return answerValue(servers.map(({ name }) => name));
  },
});

export const getServerTools = declareTool<{ server_name: string }>({
  name: "get_server_tools",
  title: "List a server's tools",
  description: "Names of one server's tools.",
  input: { type: "object", properties: { server_name: text }, required: ["server_name"] },
  output: NAMES,
  annotations: READ_ONLY,
  async handle({ server_name: wanted }, { agent }, { mcpReq: { signal } }) {
    const servers = await serversOf(agent, signal);
    return answerValue(findServer(servers, wanted).tools.map(nameOf));
  },
});

type Detail = "name" | "description" | "full";

export const searchTools = declareTool<{
  query: string;
  detail_level?: Detail | undefined;
  max_results?: number | undefined;
}>({
  name: "search_tools",
  title: "Search tools",
  description: 'Find tools by what they do. "full" shows how each is called.',
  input: {
    type: "object",
    properties: {
      query: text,
      detail_level: { enum: ["name", "description", "full"], default: "name" },
      max_results: { type: "integer", minimum: 1, maximum: MAX_SEARCH_RESULTS, default: DEFAULT_RESULTS },
    },
    required: ["query"],
  },
  output: { type: "object" },
  annotations: READ_ONLY,
  async handle(
    { query, detail_level: detail = "name", max_results: limit = DEFAULT_RESULTS },
    host,
    context,
  ) {
    const { signal } = context.mcpReq;
    const notes: string[] = [];
    const onNote = (note: string): void => void notes.push(note);
    const found = await host.agent.searchTools(query, { limit, signal, onNote });
    if (found.length === 0) notes.push(whatToTry(await serversOf(host.agent, signal)));
    const answer = answerValue(
      detail === "name" ? namesByServer(found) : await toolsByServer(found, detail, host.hintFor),
    );
    if (notes.length > 0) answer.content.push({ type: "text", text: notes.map(asSentence).join(" ") });
    return answer;
  },
});

function whatToTry(servers: readonly ToolServer[]): string {
  const names = servers.slice(0, MAX_NAMED_SERVERS).map(nameOf);
  if (names.length === 0) return "there are no tools here yet";
  const others = servers.length > names.length ? ", …" : "";
  return `try other or fewer words, or the name of a server: ${names.join(", ")}${others}`;
}

function asSentence(note: string): string {
  return `${note.charAt(0).toUpperCase()}${note.slice(1)}${/[.!?…]$/u.test(note) ? "" : "."}`;
}

/** The tool servers. Skills are left out: they belong to no server and are found by search. */
async function serversOf(agent: Agent, signal: AbortSignal): Promise<ToolServer[]> {
  const { servers } = await agent.discoverTools({ signal });
  return servers.filter(({ kind }) => kind !== "skill");
}

function nameOf({ name }: ToolDefinition | ToolServer): string {
  return name;
}

/** @throws CemError `SERVER_NOT_FOUND` */
function findServer(servers: readonly ToolServer[], wanted: string): ToolServer {
  const found = servers.find(({ name }) => name === wanted);
  if (found !== undefined) return found;
  const known = servers.map(({ name }) => name);
  const [near] = nearest(wanted, known);
  throw serverNotFound(wanted, { known, nearest: near });
}

function namesByServer(found: readonly RankedTool[]): Record<string, string[]> {
  const servers = new Map<string, string[]>();
  for (const { tool } of found) servers.set(tool.server, [...(servers.get(tool.server) ?? []), tool.name]);
  return Object.fromEntries(servers);
}

/** `{server: {tool: {…}}}`, the best match of each server first. */
async function toolsByServer(
  found: readonly RankedTool[],
  detail: Detail,
  hintFor: HintFor | undefined,
): Promise<object> {
  const servers = new Map<string, [string, object][]>();
  for (const [at, { tool }] of found.entries()) {
    const entry: [string, object] = [
      tool.name,
      detail === "full"
        ? { ...fullOf(tool, hintFor), source: at < MAX_SHOWN_CODES ? await readToolCode(tool) : undefined }
        : { description: tool.description },
    ];
    servers.set(tool.server, [...(servers.get(tool.server) ?? []), entry]);
  }
  return Object.fromEntries([...servers].map(([server, tools]) => [server, Object.fromEntries(tools)]));
}

/** `code` is what a model needs to write the call: the import, and the signature with the type of the result. */
function fullOf(tool: ToolDefinition, hintFor: HintFor | undefined): object {
  const { name, module, signature, description, inputSchema, unavailable } = tool;
  return {
    code: `import { ${name} } from "${module}";\n${signature}`,
    example: exampleCall(tool),
    description,
    inputSchema,
    unavailable: unavailable && messageOf(unavailable, hintFor),
  };
}
