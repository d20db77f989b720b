// Run by `npm test` in an empty folder where only the packed package is installed.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

const cem = (...args) => execFileSync("npx", ["--no-install", "cem", ...args], { encoding: "utf8" });
cem("init", ".");
assert.equal(cem("run", "--quiet", "Greet the person named Ada").trim(), "Hello, Ada!");
assert.equal(JSON.parse(cem("run", "--json", "Calculate 5 + 3")).value, 8);

// As a client starts it: { "command": "npx", "args": ["-y", "@cem/cli", "serve"] }.
const server = spawn("npx", ["--no-install", "@cem/cli", "serve"], { stdio: ["pipe", "pipe", "inherit"] });
const answers = createInterface({ input: server.stdout })[Symbol.asyncIterator]();
const ask = async (id, method, params) => {
  server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
  return JSON.parse((await answers.next()).value).result;
};
const clientInfo = { name: "packed", version: "1.0.0" };
const opened = await ask(1, "initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
assert.equal(opened.serverInfo.name, "code-execution-mcp");
assert.equal((await ask(2, "tools/list", {})).tools.length, 12);
const called = await ask(3, "tools/call", { name: "execute_code", arguments: { code: "return 6 * 7;" } });
assert.equal(called.structuredContent.result, 42);
server.stdin.end();
const [status] = await once(server, "close");
assert.equal(status, 0);
