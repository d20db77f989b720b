import { appendFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";

// An MCP server whose tools write each call into the file that JOBS_LOG names, before they take their time.
const log = process.env["JOBS_LOG"] ?? "";
const server = new McpServer({ name: "jobs", version: "1.0.0" });
const inputSchema = { id: z.string(), ms: z.number().optional() };

function add(name: string, annotations: Record<string, boolean>): void {
  server.registerTool(
    name,
    { description: `Do ${name}.`, inputSchema, annotations },
    async ({ id, ms = 0 }, { _meta: meta }) => {
      appendFileSync(log, `${name} ${id}\n`);
      const { traceparent } = meta ?? {};
      if (typeof traceparent === "string") appendFileSync(`${log}.traces`, `${traceparent}\n`);
      await delay(ms);
      return { content: [{ type: "text", text: JSON.stringify({ done: id }) }] };
    },
  );
}
add("look", { readOnlyHint: true });
add("send", { readOnlyHint: false, destructiveHint: false });
add("remove", { readOnlyHint: false, destructiveHint: true });
server.registerTool(
  "ask",
  { description: "Ask for a name.", inputSchema: {}, annotations: { readOnlyHint: true } },
  async () => {
    const answer = await server.server.elicitInput({
      message: "Who?",
      requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
    });
    return { content: [{ type: "text", text: JSON.stringify({ name: answer.content?.["name"] ?? null }) }] };
  },
);
await server.connect(new StdioServerTransport());
