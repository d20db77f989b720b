// Run by `npm test` in an empty folder where only the packed package is installed.
import assert from "node:assert/strict";
import { readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { createMcpTools } from "@cem/mcp-tools";

const server = path.resolve("server.mjs");
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
const tools = createMcpTools({
  servers: [{ name: "demo", transport: { kind: "stdio", command: process.execPath, args: [server] } }],
  serversDir: path.resolve("servers"),
  authFolder: path.resolve("auth"),
});
const [generated] = await tools.generate();
assert.equal(generated.state, "generated");
assert.match(await readFile("servers/demo/greet.ts", "utf8"), /callTool/);
const { signal } = new AbortController();
const call = { server: "demo", tool: "greet", args: {} };
const found = await tools.source.find(call, signal);
const result = await tools.source.invoke({ ...call, found }, { signal });
assert.deepEqual(result, { ok: true, value: "hello" });
await tools.close();
await rm("servers", { recursive: true });
