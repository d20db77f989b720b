import { InMemoryTransport, type JSONRPCMessage } from "@modelcontextprotocol/server";
import type { Agent, ToolDefinition } from "@cem/core";
import { loadTokenCounter } from "@cem/core/tokens";
import type { AgentServer } from "./agent-server.ts";

/** The tokens of the context that a client's model reads up front: the list of tools and the instructions. */
export interface TokenCost {
  tools: { name: string; tokens: number }[];
  instructions: number;
  /** Total of the list and the instructions, in o200k_base tokens. */
  total: number;
}

/** Counts the tokens of the server's list of tools in its wire format. */
export async function measureTokenCost(
  server: Pick<AgentServer, "factory" | "instructions">,
): Promise<TokenCost> {
  const countTokens = await loadTokenCounter();
  const count = (value: unknown): number => countTokens(JSON.stringify(value));
  const { instructions } = server;
  const tools = await listTools(server);
  return {
    tools: tools.map((tool) => ({ name: tool.name, tokens: count(tool) })),
    instructions: countTokens(instructions),
    total: count({ tools }) + countTokens(instructions),
  };
}

/** Counts the tokens that the list of tools would have if it contained every tool of the agent. */
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

/** The list of tools as sent to a client. */
async function listTools({ factory }: Pick<AgentServer, "factory">): Promise<{ name: string }[]> {
  const [client, served] = InMemoryTransport.createLinkedPair();
  const server = await factory({ era: "legacy" });
  const answered = Promise.withResolvers<JSONRPCMessage>();
  Object.assign(client, { onmessage: answered.resolve });
  await server.connect(served);
  try {
    await client.send({ jsonrpc: "2.0", id: 1, method: "tools/list" });
    const { result } = (await answered.promise) as { result?: { tools: { name: string }[] } };
    return result?.tools ?? [];
  } finally {
    await server.close();
  }
}
