import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { rmSync } from "node:fs";
import { Agent, request } from "node:http";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { temporaryFolder } from "../../../scripts/temporary-folder.ts";

// Floods a real `cem serve http` with the worst inputs, and shows what another client notices of it.
// node --conditions=@cem/source packages/code-execution-mcp/scripts/flood.ts [seconds] [hostile clients] [friendly clients]

const [seconds = 30, hostileClients = 8, friendlyClients = 4] = process.argv.slice(2).map(Number);
const HEADERS = { "content-type": "application/json", accept: "application/json, text/event-stream" };
const MAX_FAIR_MS = 100;
const HEALTH_INTERVAL_MS = 10;
const FRIENDLY_PAUSE_MS = 100;
const root = path.resolve(import.meta.dirname, "../../..");

interface Answer {
  status: number;
  headers: Record<string, unknown>;
  body: string;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function ask(url: string, agent: Agent, body?: string, headers: object = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const options = {
      agent,
      method: body === undefined ? "GET" : "POST",
      headers: { ...HEADERS, ...headers },
    };
    const sent = request(url, options, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      response.once("end", () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }),
      );
      response.once("error", reject);
    });
    sent.once("error", reject);
    sent.end(body);
  });
}

async function start(): Promise<{ child: ChildProcess; url: string; folder: string }> {
  const folder = temporaryFolder("cem-flood");
  const cem = path.join(root, "apps/cli/src/cem.ts");
  const args = [
    "--conditions=@cem/source",
    cem,
    "serve",
    "http",
    "--port",
    "0",
    "--servers",
    path.join(root, "servers"),
  ];
  const child = spawn(process.execPath, args, { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
  const url = await new Promise<string>((resolve, reject) => {
    let log = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      log = (log + text).slice(-10_000);
      const found = /"url":"([^"]+)"/u.exec(log)?.[1];
      if (found !== undefined) resolve(found);
    });
    child.once("exit", () => reject(new Error(log)));
  });
  return { child, url, folder };
}

async function openSession(url: string, agent: Agent): Promise<object> {
  const params = {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "flood", version: "1" },
  };
  const { status, headers, body } = await ask(
    url,
    agent,
    JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params }),
  );
  if (status !== 200) throw new Error(`${status} ${body}`);
  return { "mcp-session-id": String(headers["mcp-session-id"]) };
}

const call = (name: string, args: object): string =>
  JSON.stringify({ jsonrpc: "2.0", id: 2, method: "tools/call", params: { name, arguments: args } });

const LONG = 200_000;
/** Texts and code that cost most, for what they are. */
const WORST: readonly (() => string)[] = [
  () => call("search_tools", { query: ".".repeat(30_000) }),
  () => call("search_tools", { query: "天気予報を東京で調べて".repeat(4_000) }),
  () => call("search_tools", { query: Array.from({ length: LONG / 10 }, (_, at) => `word${at}`).join(" ") }),
  () => call("execute_task", { task_description: "add 1 and 2 and then ".repeat(LONG / 20) }),
  () => call("execute_task", { task_description: "“".repeat(LONG) }),
  () => call("execute_code", { code: `${"(".repeat(20_000)}1${")".repeat(20_000)}` }),
  () =>
    call("execute_code", {
      code: "const a = [1, { b: 2 }];\n".repeat(20_000).replaceAll(/a(?= =)/gu, () => `a${count++}`),
    }),
  () =>
    call("execute_code", {
      code: `return Array.from({ length: 100_000 }, (_, id) => ({ id, name: "row " + id }));`,
    }),
  () => call("execute_code", { code: `print("x".repeat(1_000_000)); while (true) {}` }),
  () => `[${`{"jsonrpc":"2.0","method":"a"},`.repeat(100_000)}1]`,
  () => "[".repeat(4_000_000),
  () =>
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${`{"a":`.repeat(300_000)}1${"}".repeat(300_000)}}`,
];
let count = 0;

const stop = new AbortController();
const { child, url, folder } = await start();
const health = new URL("/healthz", url).href;
const counts: Record<string, number> = {};

async function beHostile(number: number): Promise<void> {
  const agent = new Agent({ keepAlive: true });
  let session = await openSession(url, agent);
  for (let at = number; !stop.signal.aborted; at++) {
    const body = WORST[at % WORST.length]?.();
    const { status } = await ask(url, agent, body, session).catch(() => ({ status: 0 }));
    counts[status] = (counts[status] ?? 0) + 1;
    if (status === 404) session = await openSession(url, agent);
  }
  agent.destroy();
}

async function beFriendly(number: number, times: number[], signal: AbortSignal): Promise<void> {
  // Without tokens a client is known by its address. All of 127.0.0.0/8 is this host's, on Linux.
  const localAddress = process.platform === "linux" ? `127.0.1.${(number % 254) + 1}` : "127.0.0.1";
  const agent = new Agent({ keepAlive: true, localAddress });
  const session = await openSession(url, agent);
  while (!signal.aborted) {
    const started = performance.now();
    const { status, body } = await ask(url, agent, call("execute_code", { code: "return 7;" }), session);
    if (status !== 200 || !body.includes("7"))
      throw new Error(`A friendly client was answered ${status}: ${body}`);
    times.push(performance.now() - started);
    await delay(FRIENDLY_PAUSE_MS);
  }
  agent.destroy();
}

async function pollHealth(times: number[], signal: AbortSignal): Promise<void> {
  const agent = new Agent({ keepAlive: true });
  while (!signal.aborted) {
    const started = performance.now();
    const { status } = await ask(health, agent);
    if (status !== 200) throw new Error(`/healthz answered ${status}`);
    times.push(performance.now() - started);
    await delay(HEALTH_INTERVAL_MS);
  }
  agent.destroy();
}

function show(name: string, times: number[]): number {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  const [p50, p99, max] = [at(0.5), at(0.99), at(1)].map((ms) => ms.toFixed(1));
  print(`${name.padEnd(24)} n ${String(times.length).padStart(6)}  p50 ${p50}  p99 ${p99}  max ${max} ms`);
  return at(0.99);
}

try {
  for (const phase of ["quiet", "under the flood"]) {
    const phaseEnd = new AbortController();
    const [healthTimes, friendlyTimes]: [number[], number[]] = [[], []];
    const hostile = phase === "quiet" ? [] : Array.from({ length: hostileClients }, (_, at) => beHostile(at));
    const friends = Array.from({ length: friendlyClients }, (_, at) =>
      beFriendly(at, friendlyTimes, phaseEnd.signal),
    );
    const all = Promise.all([pollHealth(healthTimes, phaseEnd.signal), ...friends]);
    const time = phase === "quiet" ? 5 : seconds;
    await Promise.race([delay(time * 1_000), all]);
    phaseEnd.abort();
    print(phase);
    const p99 = show("/healthz", healthTimes);
    show("another client's run", friendlyTimes);
    if (phase !== "quiet") {
      stop.abort();
      print(`hostile answers by status ${JSON.stringify(counts)}`);
      await Promise.race([Promise.allSettled([all, ...hostile]), delay(10_000)]);
      if (p99 > MAX_FAIR_MS || friendlyTimes.length === 0) process.exitCode = 1;
    }
  }
} finally {
  child.kill("SIGTERM");
  await Promise.race([new Promise((resolve) => child.once("exit", resolve)), delay(15_000)]);
  rmSync(folder, { recursive: true, force: true });
}
process.exit();
