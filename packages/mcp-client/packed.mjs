// Run by `npm test` in an empty folder where only the packed package is installed.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { createMcpConnections } from "@cem/mcp-client";
import { createMcpTools } from "@cem/mcp-client/tools";

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

const server = path.resolve("tools-server.mjs");
await writeFile(
  server,
  `import { createInterface } from "node:readline";
const reply = (id, result) => console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize") {
    const { protocolVersion } = params;
    reply(id, { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "demo", version: "1" } });
  }
  if (method === "tools/list") reply(id, { tools: [{ name: "greet", inputSchema: { type: "object" } }] });
  if (method === "tools/call") reply(id, { content: [{ type: "text", text: "hello" }] });
});
`,
);
const catalog = createMcpTools({
  servers: [{ name: "demo", transport: { kind: "stdio", command: process.execPath, args: [server] } }],
  serversDir: path.resolve("servers"),
  authFolder: path.resolve("auth"),
});
const [generated] = await catalog.generate();
assert.equal(generated.state, "generated");
assert.match(await readFile("servers/demo/greet.ts", "utf8"), /callTool/);
const { signal: never } = new AbortController();
const call = { server: "demo", tool: "greet", args: {} };
const found = await catalog.source.find(call, never);
const answer = await catalog.source.invoke({ ...call, found }, { signal: never });
assert.deepEqual(answer, { ok: true, value: "hello" });
await catalog.close();
await rm("servers", { recursive: true });
