import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { temporaryFolder } from "../../../scripts/temporary-folder.ts";

/**
 * Tries MCP clients of others against `cem serve`, over HTTP and over stdio: installs them into a temporary folder, lists
 * the tools and runs code. Needs the registry. The inspector and both official SDKs are in the tests.
 */
const PACKAGES = [
  "@ai-sdk/mcp",
  "@openai/agents",
  "zod",
  "mcporter",
  "@langchain/mcp-adapters",
  "@langchain/core",
];
const PORT = 3987;
const URL_OF_SERVER = `http://127.0.0.1:${PORT}/mcp`;
const CODE = "return 6 * 7";

const cem = path.join(import.meta.dirname, "../src/cem.ts");
const folder = temporaryFolder("cem-clients");
const command = process.execPath;
const args = ["--conditions=@cem/source", cem, "serve"];
const workplace = path.join(folder, "place");
mkdirSync(workplace);
writeFileSync(path.join(workplace, "config.yaml"), "logging:\n  level: ERROR\n");
writeFileSync(path.join(folder, "package.json"), '{ "type": "module" }');

const PROGRAMS = {
  "@ai-sdk/mcp over HTTP": `
import { createMCPClient } from "@ai-sdk/mcp";
const client = await createMCPClient({ transport: { type: "http", url: ${JSON.stringify(URL_OF_SERVER)} } });
const tools = await client.tools();
const result = await tools.execute_code.execute({ code: ${JSON.stringify(CODE)} }, { messages: [], toolCallId: "1" });
console.log(Object.keys(tools).length, JSON.stringify(result));
await client.close();`,
  "@ai-sdk/mcp over stdio": `
import { createMCPClient } from "@ai-sdk/mcp";
import { Experimental_StdioMCPTransport } from "@ai-sdk/mcp/mcp-stdio";
const transport = new Experimental_StdioMCPTransport(${JSON.stringify({ command, args, cwd: workplace })});
const client = await createMCPClient({ transport });
const tools = await client.tools();
const result = await tools.execute_code.execute({ code: ${JSON.stringify(CODE)} }, { messages: [], toolCallId: "1" });
console.log(Object.keys(tools).length, JSON.stringify(result));
await client.close();`,
  "@openai/agents over HTTP": `
import { MCPServerStreamableHttp } from "@openai/agents";
const server = new MCPServerStreamableHttp({ url: ${JSON.stringify(URL_OF_SERVER)}, name: "cem" });
await server.connect();
const tools = await server.listTools();
const result = await server.callTool("execute_code", { code: ${JSON.stringify(CODE)} });
console.log(tools.length, JSON.stringify(result));
await server.close();`,
  "@openai/agents over stdio": `
import { MCPServerStdio } from "@openai/agents";
const server = new MCPServerStdio(${JSON.stringify({ command, args, cwd: workplace, name: "cem" })});
await server.connect();
const tools = await server.listTools();
const result = await server.callTool("execute_code", { code: ${JSON.stringify(CODE)} });
console.log(tools.length, JSON.stringify(result));
await server.close();`,
  "@langchain/mcp-adapters over HTTP": `
import { MultiServerMCPClient } from "@langchain/mcp-adapters";
const client = new MultiServerMCPClient({ mcpServers: { cem: { transport: "http", url: ${JSON.stringify(URL_OF_SERVER)} } } });
const tools = await client.getTools();
const result = await tools.find(({ name }) => name === "execute_code").invoke({ code: ${JSON.stringify(CODE)} });
console.log(tools.length, JSON.stringify(result));
await client.close();`,
  "@langchain/mcp-adapters over stdio": `
import { MultiServerMCPClient } from "@langchain/mcp-adapters";
const client = new MultiServerMCPClient({ mcpServers: { cem: { transport: "stdio", ...${JSON.stringify({ command, args, cwd: workplace })} } } });
const tools = await client.getTools();
const result = await tools.find(({ name }) => name === "execute_code").invoke({ code: ${JSON.stringify(CODE)} });
console.log(tools.length, JSON.stringify(result));
await client.close();`,
};

function run(program, ...rest) {
  return spawnSync(program, rest, { cwd: folder, encoding: "utf8", timeout: 300_000 });
}

function report(name, { stdout, stderr }) {
  const works = /42/u.test(stdout);
  process.stdout.write(
    `${works ? "ok    " : "FAILED"} ${name}: ${(works ? stdout : stderr + stdout).trim().slice(0, 300)}\n`,
  );
  if (!works) process.exitCode = 1;
}

const installed = run("npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", ...PACKAGES);
if (installed.status !== 0) throw new Error(installed.stderr);
const server = spawn(command, [...args, "http", "--port", String(PORT)], { cwd: workplace, stdio: "ignore" });
try {
  for (let tries = 0; tries < 100; tries += 1) {
    const isUp = await fetch(`http://127.0.0.1:${PORT}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isUp) break;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  for (const [name, program] of Object.entries(PROGRAMS)) {
    const file = path.join(folder, "program.mjs");
    writeFileSync(file, program);
    report(name, run(command, file));
  }
  const mcporter = path.join(folder, "node_modules/.bin/mcporter");
  const call = ["call", "--allow-http", "--http-url", URL_OF_SERVER, "--tool", "execute_code"];
  report("mcporter over HTTP", run(mcporter, ...call, "--args", JSON.stringify({ code: CODE })));
  const stdio = [
    "call",
    "--stdio",
    [command, ...args].join(" "),
    "--cwd",
    workplace,
    "--tool",
    "execute_code",
  ];
  report("mcporter over stdio", run(mcporter, ...stdio, "--args", JSON.stringify({ code: CODE })));
} finally {
  server.kill();
}
