// An MCP server over stdio to call while measuring: small answers, many rows, slow answers.
import { McpServer } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

const STATUS = ["active", "idle", "blocked", "closed"];

/** About 200 bytes of JSON. */
function row(index: number): Record<string, string | number> {
  return {
    id: index,
    name: `customer-${String(index).padStart(6, "0")}`,
    status: STATUS[index % STATUS.length] ?? "",
    amount: (index * 7919) % 100_003,
    note: `row ${index} `.padEnd(110, "abcdefghij "),
  };
}

function answer(value: Record<string, unknown>): {
  content: [{ type: "text"; text: string }];
  structuredContent: Record<string, unknown>;
} {
  return { content: [{ type: "text", text: JSON.stringify(value) }], structuredContent: value };
}

const server = new McpServer({ name: "upstream", version: "1.0.0" });
server.registerTool(
  "echo",
  { inputSchema: z.object({ text: z.string() }), outputSchema: z.object({ text: z.string() }) },
  ({ text }) => answer({ text }),
);
server.registerTool(
  "rows",
  { inputSchema: z.object({ count: z.number() }), outputSchema: z.object({ rows: z.array(z.any()) }) },
  ({ count }) => answer({ rows: Array.from({ length: count }, (_, index) => row(index)) }),
);
server.registerTool(
  "wait",
  { inputSchema: z.object({ ms: z.number() }), outputSchema: z.object({ ms: z.number() }) },
  async ({ ms }) => {
    await new Promise((resolve) => setTimeout(resolve, ms));
    return answer({ ms });
  },
);
await server.connect(new StdioServerTransport());
