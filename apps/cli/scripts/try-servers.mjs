import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { temporaryFolder } from "../../../scripts/temporary-folder.ts";

/**
 * Tries real MCP servers from the registry behind cem: installs them into a temporary folder, generates their tools, and
 * runs code that imports all of them with its types checked. Needs the registry, and some minutes.
 */
const SERVERS = {
  everything: ["@modelcontextprotocol/server-everything"],
  filesystem: ["@modelcontextprotocol/server-filesystem", "."],
  memory: ["@modelcontextprotocol/server-memory"],
  thinking: ["@modelcontextprotocol/server-sequential-thinking"],
  context7: ["@upstash/context7-mcp"],
  playwright: ["@playwright/mcp"],
  eslint: ["@eslint/mcp"],
  chart: ["@antv/mcp-server-chart"],
  drawio: ["@drawio/mcp"],
  commands: ["@agent-infra/mcp-server-commands"],
  files: ["@agent-infra/mcp-server-filesystem", "--allowed-directories", "."],
  git: ["@cyanheads/git-mcp-server"],
  weather: ["@dangahagan/weather-mcp"],
  ark: ["@ark-ui/mcp"],
  chakra: ["@chakra-ui/react-mcp"],
  access: ["@accesslint/mcp"],
  cds: ["@coinbase/cds-mcp-server"],
  vitest: ["@djankies/vitest-mcp"],
  database: ["@executeautomation/database-server", "data.db"],
  commander: ["@wonderwhy-er/desktop-commander"],
  devtools: ["chrome-devtools-mcp"],
  bank: ["@allpepper/memory-bank-mcp"],
  pubmed: ["@cyanheads/pubmed-mcp-server"],
  semi: ["@douyinfe/semi-mcp"],
};

const cem = path.join(import.meta.dirname, "../src/cem.ts");
const folder = temporaryFolder("cem-servers");

function run(command, ...args) {
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd: folder,
    encoding: "utf8",
    timeout: 300_000,
    env: { ...process.env, MEMORY_BANK_ROOT: folder, CEM_TRUST_FOLDER: "1" },
  });
  return { status, stdout, stderr };
}

function runCem(...args) {
  return run(process.execPath, "--conditions=@cem/source", cem, ...args);
}

/** The program of an installed package: the only one, or the one that is named like the package. */
function programOf(name) {
  const directory = path.join(folder, "node_modules", name);
  const { bin } = JSON.parse(readFileSync(path.join(directory, "package.json"), "utf8"));
  const programs = typeof bin === "string" ? [bin] : Object.values(bin);
  return path.join(directory, programs[0]);
}

writeFileSync(path.join(folder, "package.json"), "{}");
const failed = new Map();
for (const [server, [name]] of Object.entries(SERVERS)) {
  const { status, stderr } = run("npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", name);
  if (status !== 0) failed.set(server, `is not installed: ${stderr.slice(0, 200)}`);
}
const mcpServers = Object.fromEntries(
  Object.entries(SERVERS)
    .filter(([server]) => !failed.has(server))
    .map(([server, [name, ...args]]) => [
      server,
      { command: process.execPath, args: [programOf(name), ...args], timeout: 60 },
    ]),
);
writeFileSync(path.join(folder, "config.yaml"), JSON.stringify({ mcp_servers: mcpServers }));
for (const server of Object.keys(mcpServers)) {
  const generated = runCem("generate", server, "--json");
  const [result] = JSON.parse(generated.stdout || "{}").servers ?? [];
  const offers = `import * as tools from "./servers/${server}/index.ts";\nreturn Object.keys(tools).sort();`;
  writeFileSync(path.join(folder, "program.ts"), offers);
  const executed = JSON.parse(runCem("exec", "program.ts", "--json").stdout || "{}");
  const names = Array.isArray(executed.value) ? executed.value : [];
  if (names.length === 0)
    failed.set(server, `${JSON.stringify(result ?? generated.stdout)} ${JSON.stringify(executed.error)}`);
  const extra = names.filter((name) => name.startsWith("mcp_")).length;
  process.stdout.write(`${server}: ${names.length} functions, ${extra} of them for resources and prompts\n`);
}
for (const [server, reason] of failed) process.stdout.write(`FAILED ${server}: ${reason.slice(0, 600)}\n`);
process.stdout.write(`${Object.keys(SERVERS).length - failed.size} servers work\n`);
process.exitCode = Object.keys(SERVERS).length - failed.size >= 20 ? 0 : 1;
