import { InMemoryTransport, LATEST_PROTOCOL_VERSION } from "@modelcontextprotocol/server";
import type { JSONRPCMessage } from "@modelcontextprotocol/server";
import type { Agent, ToolDefinition } from "@cem/core";
import type { Servable } from "./create-server.ts";

/** What a client's model pays before its first word. */
export interface TokenCost {
  tools: { name: string; tokens: number }[];
  /** Of the whole list, in o200k_base tokens. */
  total: number;
}

/** Counts the tokens of the list of tools, as it comes over the wire. */
export async function measureTokenCost(server: Pick<Servable, "factory">): Promise<TokenCost> {
  const { countTokens } = await import("gpt-tokenizer/encoding/o200k_base");
  const count = (value: unknown): number => countTokens(JSON.stringify(value));
  const tools = await listTools(server);
  return {
    tools: tools.map((tool) => ({ name: tool.name, tokens: count(tool) })),
    total: count({ tools }),
  };
}

/** What the same model would pay if every tool of the agent stood in the list itself. */
export async function measureDirectCost(
  agent: Agent,
  signal?: AbortSignal,
): Promise<{ tools: number; tokens: number }> {
  const { countTokens } = await import("gpt-tokenizer/encoding/o200k_base");
  const { servers } = await agent.discoverTools(signal && { signal });
  const tools = servers.flatMap((server) => server.tools);
  // Text of other people's tools may hold words like <|endoftext|>: they are text here, not commands.
  const count = ({ name, description, inputSchema, outputSchema }: ToolDefinition): number =>
    countTokens(JSON.stringify({ name, description, inputSchema, outputSchema }), {
      disallowedSpecial: new Set(),
    });
  return { tools: tools.length, tokens: tools.reduce((sum, tool) => sum + count(tool), 0) };
}

async function listTools({ factory }: Pick<Servable, "factory">): Promise<{ name: string }[]> {
  const [client, served] = InMemoryTransport.createLinkedPair();
  const server = await factory({ era: "legacy" });
  const answers = Promise.withResolvers<{ name: string }[]>();
  const onmessage = (message: JSONRPCMessage): void => {
    if ("result" in message && message.id === LIST_ID) {
      answers.resolve((message.result as { tools: { name: string }[] }).tools);
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
