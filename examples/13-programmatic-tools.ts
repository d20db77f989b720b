// Tools of your own beside the server's: given at its creation, or added while clients are connected.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createServer, customTool, runServer } from "code-execution-mcp";
import { z } from "zod";

const greet = customTool({
  name: "greet",
  description: "Greets a person by name.",
  inputSchema: z.object({ name: z.string() }),
  handler: ({ name }) => `Hello, ${name}!`,
});
const countTools = customTool({
  name: "count_tools",
  description: "Counts the tools that code can call.",
  inputSchema: z.object({}),
  // A handler gets the server's agent and its configuration.
  handler: async (_input, { agent }) => {
    const { servers } = await agent.discoverTools();
    return { servers: servers.length, tools: servers.flatMap(({ tools }) => tools).length };
  },
});
const square = customTool({
  name: "square",
  description: "Squares a number.",
  inputSchema: z.object({ x: z.number() }),
  handler: ({ x }) => x * x,
});

const server = await createServer({
  customTools: [greet, countTools],
  config: { logging: { level: "ERROR" } },
});
const running = await runServer({ server, transport: "http", port: 0 });
const client = new Client({ name: "example", version: "1.0.0" });
await client.connect(new StreamableHTTPClientTransport(new URL(running.url ?? "")));

const call = async (name: string, args: object): Promise<void> => {
  const { content } = await client.callTool({ name, arguments: { ...args } });
  for (const part of content) if (part.type === "text") console.log(`${name}: ${part.text}`);
};
await call("greet", { name: "Ada" });
await call("count_tools", {});

server.registerTool(square);
await call("square", { x: 12 });
await call("square", { x: "twelve" });

await client.close();
await running.close();
