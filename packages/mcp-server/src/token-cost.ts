import { InMemoryTransport, LATEST_PROTOCOL_VERSION } from "@modelcontextprotocol/server";
import type { JSONRPCMessage } from "@modelcontextprotocol/server";
import type { Agent, ToolDefinition } from "@cem/core";
import { loadTokenCounter } from "@cem/core/tokens";
import type { Servable } from "./agent-server.ts";

/** The tokens that a client's model reads before its first word: the list of tools and the instructions. */
export interface TokenCost {
  tools: { name: string; tokens: number }[];
  instructions: number;
  /** Of the whole list with the instructions, in o200k_base tokens. */
  total: number;
}

/** Counts the tokens of the server's list of tools, as it comes over the wire. */
export async function measureTokenCost(server: Pick<Servable, "factory">): Promise<TokenCost> {
  const countTokens = await loadTokenCounter();
  const count = (value: unknown): number => countTokens(JSON.stringify(value));
  const { tools, instructions } = await readOpening(server);
  return {
    tools: tools.map((tool) => ({ name: tool.name, tokens: count(tool) })),
    instructions: countTokens(instructions),
    total: count({ tools }) + countTokens(instructions),
  };
}

/** Counts the tokens that the list of tools would have if it held every tool of the agent. */
export async function measureDirectCost(
  agent: Agent,
  signal?: AbortSignal,
): Promise<{ tools: number; tokens: number }> {
  const countTokens = await loadTokenCounter();
  const { servers } = await agent.discoverTools({ signal });
  const tools = servers.flatMap((server) => server.tools);
  const count = ({ name, description, inputSchema, outputSchema }: ToolDefinition): number =>
    countTokens(JSON.stringify({ name, description, inputSchema, outputSchema }));
  return { tools: tools.length, tokens: tools.reduce((sum, tool) => sum + count(tool), 0) };
}

interface Opening {
  tools: { name: string }[];
  instructions: string;
}

async function readOpening({ factory }: Pick<Servable, "factory">): Promise<Opening> {
  const [client, served] = InMemoryTransport.createLinkedPair();
  const server = await factory({ era: "legacy" });
  const answers = Promise.withResolvers<Opening>();
  let instructions = "";
  const onmessage = (message: JSONRPCMessage): void => {
    if ("result" in message && message.id === LIST_ID) {
      const { tools } = message.result as Pick<Opening, "tools">;
      answers.resolve({ tools, instructions });
    } else if ("result" in message) {
      ({ instructions = "" } = message.result as Partial<Opening>);
    }
    if ("error" in message) answers.reject(new Error(message.error.message));
  };
  Object.assign(client, { onmessage });
  await server.connect(served);
  try {
    for (const message of OPENING) await client.send(message);
    return await answers.promise;
  } finally {
    await server.close();
  }
}

const LIST_ID = 2;
const OPENING: readonly JSONRPCMessage[] = [
  {
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: {
      protocolVersion: LATEST_PROTOCOL_VERSION,
      capabilities: {},
      clientInfo: { name: "cost", version: "0" },
    },
  },
  { jsonrpc: "2.0", method: "notifications/initialized" },
  { jsonrpc: "2.0", id: LIST_ID, method: "tools/list" },
];
