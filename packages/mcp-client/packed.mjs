// Run by `npm test` in an empty folder where only the packed package is installed.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { createMcpConnections } from "@cem/mcp-client";

writeFileSync(
  "server.mjs",
  `import { createInterface } from "node:readline";
const echo = { name: "echo", inputSchema: { type: "object", properties: { text: { type: "string" } } } };
const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "echo", version: "1.0.0" },
  }),
  "tools/list": () => ({ tools: [echo] }),
  "tools/call": (params) => ({ content: [{ type: "text", text: params.arguments.text }] }),
};
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  const result = answers[method]?.(params);
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, result: result ?? {} }));
});
`,
);
const transport = { kind: "stdio", command: process.execPath, args: ["server.mjs"] };
const connections = createMcpConnections({
  servers: [{ name: "echo", transport }],
  authFolder: path.resolve("auth"),
});
const { tools } = await connections.listTools("echo");
assert.equal(tools.length, 1);
const signal = AbortSignal.timeout(10_000);
const result = await connections.callTool("echo", "echo", { text: "hi" }, { signal });
assert.deepEqual(result.content, [{ type: "text", text: "hi" }]);
await connections.close();
