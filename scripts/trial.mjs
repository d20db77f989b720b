/**
 * Real MCP servers behind `cem serve` with its default settings, for a model (or a person) that sees only what a client sees:
 *
 *     node scripts/trial.mjs setup DIR            installs the servers from npm into DIR, with data and a git repository
 *     node scripts/trial.mjs start DIR [--answer once|no|none] [--direct]
 *     node scripts/trial.mjs list DIR             instructions and tools, as the client reads them
 *     node scripts/trial.mjs call DIR TOOL JSON   one call; `@FILE` is the JSON of a file, `code@FILE` a program for execute_code
 *     node scripts/trial.mjs sum DIR [LABEL]      tokens in and out so far; LABEL begins a new count
 *
 * `start` stays in the foreground. `--direct` connects to the servers themselves, whose tools are then `server.tool`: what the
 * same task costs without code. `--answer` is the answer to questions of approval; with `none` the client can't be asked.
 * Tokens are o200k_base: `in` is what the model reads (results; the list once), `out` what it writes (name and arguments).
 */
import { execFileSync } from "node:child_process";
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import path from "node:path";
import { parseArgs } from "node:util";

const root = path.resolve(import.meta.dirname, "..");
const PACKAGES = [
  "@modelcontextprotocol/server-everything",
  "@modelcontextprotocol/server-filesystem",
  "@modelcontextprotocol/server-memory",
  "@modelcontextprotocol/server-sequential-thinking",
  "@cyanheads/git-mcp-server",
  "@playwright/mcp",
  "mcp-server-fetch-typescript",
  "time-mcp",
];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { answer: { type: "string", default: "once" }, direct: { type: "boolean", default: false } },
});
const [command, folder = "", ...rest] = positionals;
const dir = path.resolve(folder);
const inDir = (/** @type {string[]} */ ...parts) => path.join(dir, ...parts);

const commands = { setup, start, list, call, sum };
if (command === undefined || folder === "" || !Object.hasOwn(commands, command)) {
  process.stderr.write("node scripts/trial.mjs setup|start|list|call|sum DIR …\n");
  process.exitCode = 2;
} else await commands[/** @type {keyof typeof commands} */ (command)]();

function setup() {
  for (const name of ["files", "workspace", "servers"]) mkdirSync(inDir(name), { recursive: true });
  writeFileSync(inDir("package.json"), '{ "private": true }');
  execFileSync("npm", ["install", "--no-audit", "--no-fund", "--ignore-scripts", ...PACKAGES], {
    cwd: dir,
    stdio: "inherit",
  });
  const rows = Array.from(
    { length: 40_000 },
    (_, at) => `${at},user${at % 97},${(at * 37) % 1000},${at % 7 === 0 ? "failed" : "ok"}`,
  );
  writeFileSync(inDir("files", "orders.csv"), ["id,user,amount,status", ...rows].join("\n"));
  for (const [at, city] of ["Oslo", "Lima", "Pune", "Kyiv"].entries()) {
    writeFileSync(inDir("files", `note-${at}.md`), `# ${city}\n\nTODO: call ${city}\nDone: ${at} of 4\n`);
  }
  writeFileSync(
    inDir("files", "config.json"),
    JSON.stringify({ retries: 3, hosts: ["a", "b"], debug: true }, undefined, 2),
  );
  mkdirSync(inDir("repo"), { recursive: true });
  const git = (/** @type {string[]} */ ...args) =>
    execFileSync("git", ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", ...args], {
      cwd: inDir("repo"),
    });
  git("init", "-q", "-b", "main");
  for (const [at, name] of ["parser", "lexer", "printer", "parser"].entries()) {
    appendFileSync(inDir("repo", `${name}.txt`), `line ${at}\n`);
    git("add", ".");
    git("commit", "-q", "-m", `Change the ${name} (${at})`);
  }
  const servers = Object.entries(entries()).map(([name, entry]) => ({ name, ...entry }));
  writeFileSync(inDir("config.yaml"), `execution:\n  workspace_dir: ./workspace\n  servers_dir: ./servers\n`);
  writeFileSync(inDir("mcp.json"), JSON.stringify({ mcpServers: entries() }, undefined, 2));
  for (const { name, command: program, args } of servers) cem("add", name, "--", program, ...args);
}

/** Each server as a client's configuration has it. */
function entries() {
  const require = createRequire(inDir("package.json"));
  /** @type {(name: string, ...args: string[]) => { command: string, args: string[] }} */
  const entry = (name, ...args) => {
    const file = inDir("node_modules", name, "package.json");
    const { bin } = require(file);
    const main = typeof bin === "string" ? bin : Object.values(bin)[0];
    return { command: process.execPath, args: [path.join(path.dirname(file), main), ...args] };
  };
  return {
    everything: entry("@modelcontextprotocol/server-everything"),
    filesystem: entry("@modelcontextprotocol/server-filesystem", inDir("files")),
    memory: entry("@modelcontextprotocol/server-memory"),
    thinking: entry("@modelcontextprotocol/server-sequential-thinking"),
    git: entry("@cyanheads/git-mcp-server"),
    browser: entry("@playwright/mcp", "--headless", "--no-sandbox", "--executable-path", "/usr/bin/chromium"),
    fetch: entry("mcp-server-fetch-typescript"),
    time: entry("time-mcp"),
  };
}

/** @param {string[]} args */
function cem(...args) {
  execFileSync(path.join(root, "scripts/bin/cem"), args, { cwd: dir, stdio: "inherit" });
}

async function start() {
  const { Client } = await import("@modelcontextprotocol/client");
  const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
  const { encode } = await import(
    createRequire(path.join(root, "packages/core/package.json")).resolve("gpt-tokenizer/encoding/o200k_base")
  );
  /** @type {(entry: { command: string, args: string[] }) => Promise<import("@modelcontextprotocol/client").Client>} */
  const connect = async ({ command: program, args }) => {
    const canAnswer = values.answer !== "none";
    const client = new Client(
      { name: "trial", version: "1" },
      { capabilities: canAnswer ? { elicitation: { form: {} } } : {} },
    );
    if (canAnswer) {
      client.setRequestHandler("elicitation/create", async ({ params: { message } }) => {
        appendFileSync(inDir("questions.log"), `${message}\n`);
        const answer = values.answer === "no" ? "No" : "Yes, this once";
        return { action: "accept", content: { answer } };
      });
    }
    const stderr = "ignore";
    await client.connect(new StdioClientTransport({ command: program, args, cwd: dir, stderr }));
    return client;
  };
  /** @type {Record<string, { command: string, args: string[] }>} */
  const wanted = values.direct
    ? entries()
    : { cem: { command: path.join(root, "scripts/bin/cem"), args: ["serve"] } };
  const clients = new Map(
    await Promise.all(
      Object.entries(wanted).map(
        async ([name, entry]) => /** @type {const} */ ([name, await connect(entry)]),
      ),
    ),
  );
  const tools = (
    await Promise.all(
      [...clients].map(async ([server, client]) =>
        (await client.listTools()).tools.map(({ name, description, inputSchema }) => ({
          name: values.direct ? `${server}.${name}` : name,
          description,
          inputSchema,
        })),
      ),
    )
  ).flat();
  const instructions = [...clients.values()]
    .map((client) => client.getInstructions() ?? "")
    .filter((text) => text !== "");
  const opening = JSON.stringify({ instructions, tools });
  writeFileSync(inDir("list.json"), opening);
  const count = (/** @type {string} */ text) => encode(text).length;
  note({ label: values.direct ? "direct" : "cem", in: count(opening), out: 0 });
  /** @param {import("node:http").IncomingMessage} request
   *  @param {import("node:http").ServerResponse} response */
  const answer = async (request, response) => {
    let body = "";
    for await (const part of request.setEncoding("utf8")) body += part;
    const [name = "", argument = "{}"] = JSON.parse(body);
    const [owner, tool] = values.direct
      ? [name.slice(0, name.indexOf(".")), name.slice(name.indexOf(".") + 1)]
      : ["cem", name];
    const begun = performance.now();
    const args = JSON.parse(argument);
    /** @type {any} */
    const result = await clients
      .get(owner)
      ?.callTool({ name: tool, arguments: args }, { timeout: 120_000 })
      .catch((error) => ({ content: [{ type: "text", text: String(error) }] }));
    const text = (result?.content ?? [{ type: "text", text: `There is no ${name}.` }])
      .map((/** @type {any} */ part) => part.text ?? `[${part.type}]`)
      .join("\n");
    const line = {
      tool: name,
      in: count(text),
      out: count(name + argument),
      ms: Math.round(performance.now() - begun),
    };
    note(line);
    response.end(`${text}\n-- ${JSON.stringify(line)}\n`);
  };
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    writeFileSync(inDir("port"), String(typeof address === "object" ? address?.port : ""));
    process.stdout.write(`${tools.length} tools, ${count(opening)} tokens; ready\n`);
  });
  process.on("SIGTERM", () => process.emit("SIGINT"));
  process.on("SIGINT", () => {
    void Promise.all([...clients.values()].map((client) => client.close())).then(() => process.exit());
  });
}

/** @param {object} line */
function note(line) {
  appendFileSync(inDir("tokens.jsonl"), `${JSON.stringify(line)}\n`);
}

function list() {
  process.stdout.write(
    `${JSON.stringify(JSON.parse(readFileSync(inDir("list.json"), "utf8")), undefined, 1)}\n`,
  );
}

async function call() {
  const [tool, argument = "{}"] = rest;
  const [key = "", file] = argument.startsWith("{") ? [] : argument.split("@");
  const text = file === undefined ? argument : readFileSync(file, "utf8");
  const json = key === "" ? text : JSON.stringify({ [key]: text });
  const body = JSON.stringify([tool, json]);
  const response = await fetch(`http://127.0.0.1:${readFileSync(inDir("port"), "utf8")}`, {
    method: "POST",
    body,
  });
  process.stdout.write(await response.text());
}

function sum() {
  const [label] = rest;
  /** @type {Map<string, { calls: number, in: number, out: number }>} */
  const sums = new Map();
  let current = "";
  for (const text of readFileSync(inDir("tokens.jsonl"), "utf8").trim().split("\n")) {
    const line = JSON.parse(text);
    if (line.label !== undefined) current = line.label;
    const known = sums.get(current) ?? { calls: 0, in: 0, out: 0 };
    sums.set(current, {
      calls: known.calls + (line.tool === undefined ? 0 : 1),
      in: known.in + line.in,
      out: known.out + line.out,
    });
  }
  for (const [name, figures] of sums) process.stdout.write(`${name}: ${JSON.stringify(figures)}\n`);
  if (label !== undefined) note({ label, in: 0, out: 0 });
}
