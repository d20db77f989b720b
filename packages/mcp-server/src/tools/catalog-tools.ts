import { serverNotFound } from "@cem/core";
import type { Agent, ToolDefinition, ToolServer } from "@cem/core";
import { nearest } from "@cem/core/text";
import { answerValue, declareTool, READ_ONLY, text } from "../server-tool.ts";

const NAMES = { type: "array", items: text } as const;
const NO_INPUT = { type: "object", properties: {} } as const;

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

/** The tool servers. Skills are left out: they belong to no server and are found by search. */
export async function serversOf(agent: Agent, signal: AbortSignal): Promise<ToolServer[]> {
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
