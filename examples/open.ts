// Where an example runs its tasks: in this process, or with MCP_MODE=true on a server. MCP_SERVER_URL says which:
// http://127.0.0.1:3000/mcp is one that serves already; without it the server of 10-mcp-server.ts is started.
import { fileURLToPath } from "node:url";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { createAgent } from "code-execution-mcp";
import type { SkillDraft } from "code-execution-mcp";

/** The part of an agent that an example uses, here or on a server. */
export interface OpenAgent {
  /** @returns the value of the task. @throws where it has none. */
  executeTask(task: string): Promise<unknown>;
  /** Proposes a skill, which a person promotes. */
  proposeSkill(draft: SkillDraft): Promise<{ name: string; status: string }>;
  dispose(): Promise<void>;
}

type Mode = "direct" | "mcp";

export async function open(mode = modeOf(process.env)): Promise<OpenAgent> {
  return mode === "mcp" ? openServer() : openHere();
}

function modeOf({ MCP_MODE }: NodeJS.ProcessEnv): Mode {
  return MCP_MODE === "true" ? "mcp" : "direct";
}

/** Connects to the server that MCP_SERVER_URL names. */
export async function connect(): Promise<Client> {
  const { MCP_SERVER_URL: url = "stdio:" } = process.env;
  const client = new Client({ name: "example", version: "1.0.0" });
  const server = fileURLToPath(new URL("10-mcp-server.ts", import.meta.url));
  const stdio = { command: process.execPath, args: [...process.execArgv, server, "stdio"] };
  await client.connect(
    url.startsWith("stdio:")
      ? new StdioClientTransport(stdio)
      : new StreamableHTTPClientTransport(new URL(url)),
  );
  return client;
}

function openHere(): OpenAgent {
  const agent = createAgent();
  return {
    executeTask: async (task) => {
      const { value, error } = await agent.executeTask(task);
      if (error !== null) throw new Error(error.message);
      return value;
    },
    proposeSkill: (draft) => agent.saveSkill(draft, { author: "model" }),
    dispose: () => agent.dispose(),
  };
}

async function openServer(): Promise<OpenAgent> {
  const client = await connect();
  const call = async <Answer>(name: string, args: object): Promise<Answer> => {
    const { isError, structuredContent, content } = await client.callTool({ name, arguments: { ...args } });
    if (isError === true) throw new Error(JSON.stringify(content));
    return structuredContent as Answer;
  };
  return {
    executeTask: async (task) => {
      const { result } = await call<{ result: unknown }>("execute_task", { task_description: task });
      return result;
    },
    proposeSkill: (draft) => call("save_skill", draft),
    dispose: () => client.close(),
  };
}
