// A client of the server in 10-mcp-server.ts, which it starts: any MCP client does the same.
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const server = fileURLToPath(new URL("10-mcp-server.ts", import.meta.url));
const client = new Client({ name: "example", version: "1.0.0" });
await client.connect(
  new StdioClientTransport({ command: process.execPath, args: [...process.execArgv, server, "stdio"] }),
);

const { tools } = await client.listTools();
console.log(`Tools: ${tools.map(({ name }) => name).join(", ")}`);

const found = await client.callTool({
  name: "search_tools",
  arguments: { query: "weather", max_results: 1 },
});
console.log(found.structuredContent);

const answer = await client.callTool({
  name: "execute_task",
  arguments: { task_description: "Calculate 5 + 3" },
});
console.log(answer.structuredContent);
await client.close();
