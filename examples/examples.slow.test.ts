import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readdir, rm, symlink } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";

// Twenty examples run one after another, perhaps beside the tests of other packages on a busy machine.
vi.setConfig({ testTimeout: 400_000, hookTimeout: 120_000 });

const root = path.resolve(import.meta.dirname, "..");
let cwd: string;

const MARK = "\u0000 example ";
/** Runs examples one after another: a process for each would cost a second each. */
const PROGRAM = `
for (const name of process.argv.slice(1)) {
  console.log(${JSON.stringify(MARK)} + name);
  await import(name).catch((error) => console.log(error));
}`;

function start(args: readonly string[], env: Record<string, string>): ChildProcess {
  return spawn(process.execPath, ["--conditions=@cem/source", ...args], {
    cwd,
    // Without a key examples ask a stand-in for a model. Of the guests that would be kept ready most run nothing.
    env: {
      ...process.env,
      OPENAI_API_KEY: undefined,
      LOG_LEVEL: "ERROR",
      OPTIMIZATION_SANDBOX_POOLING: "false",
      ...env,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
}

const fileOf = (name: string): string => path.join(root, "examples", name);

/** The output of each example. */
async function runAll(names: readonly string[], env: Record<string, string>): Promise<Map<string, string>> {
  const files = names.map((name) => pathToFileURL(fileOf(name)).href);
  const child = start(["--input-type=module", "-e", PROGRAM, ...files], {
    npm_config_offline: "true",
    ...env,
  });
  let output = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => (output += text));
  await once(child, "close");
  const parts = output.split(MARK).slice(1);
  return new Map(parts.map((part, index) => [names[index] ?? "", part]));
}

const SAN_FRANCISCO = '"location":"San Francisco","country":"United States"';
const [FIRST, SECOND, THIRD] = [
  '"current_step":2,"total_steps":3,"results":[50],"status":"in_progress"',
  '"current_step":3,"total_steps":3,"results":[50,60],"status":"in_progress"',
  '"current_step":4,"total_steps":3,"results":[50,60,60],"status":"completed","total":170',
];
const STATE = [
  'saved {"calculation":"5 + 3","result":8,"step":1,"message":"State saved in session 1"}',
  'Session 2 has {"calculation":"5 + 3","result":9,"step":2,"message":"State saved in session 1"}',
];
const SKILLS = ["Doubled: 30", "is a proposal", "is active, version 1, approved by you", "Tripled: 42"];
const STATEFUL = [
  '{"workflow_id":"wf_stateful_001","current_step":1,"total_steps":3,"results":[50],"status":"initialized"}',
  '"results":[50,60],"status":"initialized","total":110',
  '{"exists":false',
];
const MODES = ["direct: 8", "mcp: 8", "Both gave the same."];
const TOOLS = [
  "greet: Hello, Ada!",
  /count_tools: \{"servers":\d+,"tools":\d+\}/u,
  "square: 144",
  /square: .*expected number, received string/u,
];

type Printed = readonly (string | RegExp)[];

/** The output that each example should have printed and has not. */
function missing(
  printed: ReadonlyMap<string, string>,
  expected: Readonly<Record<string, Printed>>,
): string[] {
  return Object.entries(expected).flatMap(([name, parts]) => {
    const output = printed.get(name) ?? "";
    const lacking = parts.filter((part) =>
      typeof part === "string" ? !output.includes(part) : !part.test(output),
    );
    return lacking.map((part) => `${name}: ${part} is not in:\n${output}`);
  });
}

const HERE: Readonly<Record<string, Printed>> = {
  "00-simple-api.ts": [
    "5 + 3 is 8",
    "Calculate 10 * 5: 50",
    `Get weather for San Francisco: {${SAN_FRANCISCO}`,
  ],
  "01-basic-call.ts": ["Selected: weather.get_weather", "await get_weather({ location:", SAN_FRANCISCO],
  "02-multi-tool-chain.ts": [/(?:.+: -?[\d.]+ °C\n){50}\d+ tokens instead of \d{4}/u],
  "03-data-filtering.ts": [
    "10000 rows in the sandbox",
    /(?:\{ id: \d+, region: 'North'.*\n.*){5}\]/u,
    /\b\d\d tokens instead of \d{6}/u,
    '"mean"',
  ],
  "04-control-flow.ts": [
    "weather.temperature > 10",
    "Packed: light clothes",
    /Refused after 0 calls: .*"many days until summer" was not understood/u,
    "Cairo: 'sunscreen', Oslo: 'jacket'",
  ],
  "05-state.ts": STATE,
  "06-skills.ts": SKILLS,
  "07-filesystem.ts": ["Read back: Hello World", "sum: 358", "error: CODE_THREW"],
  "08-cross-session.ts": [FIRST, SECOND, THIRD],
  "09-configuration.ts": [
    "after 10 s",
    "timeout: ",
    "CONFIG_INVALID",
    "Did you mean  guardrails.maxExecutionTime ?",
  ],
  "11-mcp-client.ts": ["execute_code", "get_weather(", "success: true, result: 8"],
  "13-programmatic-tools.ts": TOOLS,
  "15-two-mcp-servers.ts": [
    /files: \d+ tools\nmemory: \d+ tools\nAnalysts: \["Ada","Alan"\]/u,
    "files.read_text_file, memory.create_entities, memory.search_nodes",
  ],
  "16-pii-round-trip.ts": [
    /The code sees \[\[EMAIL:\w{16}\]\]\nThe model sees \{ name: 'Ada', email: '\[\[EMAIL:\w{16}\]\]' \}/u,
    "The mail went to ada@example.com",
  ],
  "17-approvals.ts": [
    "Would call shop.refund { order: 1, amount: 200 }\nPaid so far: 0\n20: success\nrefund? 100 or more\n200: success",
    "2000: Line 3",
    "More than 1,000 is paid by hand.\nPaid in all: 220",
  ],
  "18-workflow.ts": [
    /(?:Done: weather\[\d\].one\n){3}Done: weather\nDone: warmest\n/u,
    'success: {"city":"Cairo","temperature":29.1}\nKept: true',
  ],
  "19-form.ts": [
    "refused [ { field: 'seats', message: 'must be 2 or more' } ]",
    /success \{\n {2}name: 'Ada',\n {2}email: '\[\[EMAIL:/u,
    "The club has [ { name: 'Ada', email: 'ada@example.com', plan: 'team', seats: 5 } ]",
  ],
  "20-plugin.ts": ["{ rolls: [ 1, 6, 5, 4, 3, 2 ], total: 21 }", /Rolled at \[\[TABLE:\w+\]\]\./u],
  "21-one-package.ts": [
    "EMAIL: ada@example.com\nCREDIT_CARD: 4111 1111 1111 1111\nIP: 192.168.0.7",
    /A model reads: Ada <\[\[EMAIL:\w+\]\]> paid with \[\[CREDIT_CARD:\w+\]\] from \[\[IP:\w+\]\]\./u,
    "A tool gets: Ada <ada@example.com> paid with 4111 1111 1111 1111 from 192.168.0.7.",
  ],
  "22-web-app.ts": [/After 2 steps: It came to \{"success":true,"result":"Cairo"/u],
  "own-code.ts": [/July: \["[^"]+","[^"]+","[^"]+"\]/u, "41 tool calls"],
  "stages-by-hand.ts": ["completed 288"],
};
const OVER_MCP: Readonly<Record<string, Printed>> = {
  "05-state.ts": STATE,
  "06-skills.ts": SKILLS,
  "08-cross-session.ts": [FIRST, SECOND, THIRD],
  "12-mcp-mode.ts": MODES,
  "14-statefulness.ts": STATEFUL,
};

beforeEach(async () => {
  cwd = await mkdtemp(path.join(os.tmpdir(), "cem-examples-"));
  onTestFinished(() => rm(cwd, { recursive: true, force: true }));
  for (const folder of ["servers", "skills"]) {
    await cp(path.join(root, folder), path.join(cwd, folder), { recursive: true });
  }
  await installServers();
});

/** Two MCP servers, where npx finds them: it need not ask the registry. */
async function installServers(): Promise<void> {
  await mkdir(path.join(cwd, "node_modules/.bin"), { recursive: true });
  await mkdir(path.join(cwd, "node_modules/@modelcontextprotocol"));
  for (const name of ["server-filesystem", "server-memory"]) {
    const installed = path.join(root, "examples/node_modules/@modelcontextprotocol", name);
    await symlink(installed, path.join(cwd, "node_modules/@modelcontextprotocol", name), "junction");
    await symlink(path.join(installed, "dist/index.js"), path.join(cwd, "node_modules/.bin", `mcp-${name}`));
  }
}

describe("the examples", () => {
  it("are all tried", async () => {
    const numbered = (await readdir(path.join(root, "examples"))).filter((name) => /^\d\d-/u.test(name));
    const tried = new Set([...Object.keys(HERE), ...Object.keys(OVER_MCP), "10-mcp-server.ts"]);
    expect(numbered.filter((name) => !tried.has(name))).toEqual([]);
    expect(numbered).toHaveLength(23);
  });

  it("print what they say, in this process", async () => {
    const printed = await runAll(Object.keys(HERE), {});
    expect(missing(printed, HERE)).toEqual([]);
  });

  it("print the same against the server of 10-mcp-server.ts", async () => {
    const server = start([fileOf("10-mcp-server.ts")], { PORT: "0" });
    onTestFinished(() => void server.kill("SIGKILL"));
    const lines = createInterface({ input: server.stdout as NodeJS.ReadableStream });
    const [line] = (await once(lines, "line")) as [string];
    const url = /Serving at (http:\S+\/mcp)\./u.exec(line)?.[1] ?? "";
    const printed = await runAll(Object.keys(OVER_MCP), { MCP_MODE: "true", MCP_SERVER_URL: url });
    expect(missing(printed, OVER_MCP)).toEqual([]);
    server.kill("SIGTERM");
    expect(await once(server, "close")).toEqual([0, null]);
  });
});
