import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { createRealAgent } from "../fixtures/real-agent.ts";
import { createAgentServer, createLogger, serveHttp } from "../src/index.ts";

/**
 * Measures the server against the agent alone: the same program through the agent in this process, over HTTP and over
 * stdio, by 1, 8 and 32 clients; the time from start to ready; and the memory after many calls against after a tenth.
 *
 *     node --conditions=@cem/source scripts/bench.ts [calls for speed] [calls for memory] [most clients]
 *
 * A table goes to standard error, JSON to standard output. On a busy machine only the ratios count.
 */
const CODE = `import { add } from "./servers/calculator/index.ts"; return await add({ a: 1, b: 2 });`;
const [speedCalls = 200, memoryCalls = 10_000, mostClients = 32] = process.argv.slice(2).map(Number);
const CLIENTS = [1, 8, 32].filter((count) => count <= mostClients);
const STDIO_SERVER = fileURLToPath(new URL("../fixtures/stdio-server.ts", import.meta.url));
const MB = 1024 * 1024;

interface Speed {
  path: "agent" | "http" | "stdio";
  clients: number;
  callsPerSecond: number;
  p50Ms: number;
  p95Ms: number;
}

type Call = () => Promise<unknown>;

async function measure(path: Speed["path"], calls: readonly Call[]): Promise<Speed> {
  const times: number[] = [];
  let left = speedCalls;
  const started = performance.now();
  const work = async (call: Call): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const begun = performance.now();
      await call();
      times.push(performance.now() - begun);
    }
  };
  await Promise.all(calls.map(work));
  const seconds = (performance.now() - started) / 1000;
  const sorted = times.toSorted((one, other) => one - other);
  const at = (share: number): number => round(sorted[Math.floor(sorted.length * share)] ?? 0);
  return {
    path,
    clients: calls.length,
    callsPerSecond: round(times.length / seconds),
    p50Ms: at(0.5),
    p95Ms: at(0.95),
  };
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function callOf(client: Client): Call {
  return () => client.callTool({ name: "execute_code", arguments: { code: CODE } });
}

function newClient(): Client {
  const mode = { pin: "2026-07-28" } as const;
  return new Client({ name: "bench", version: "1.0.0" }, { versionNegotiation: { mode } });
}

async function httpClients(url: string, count: number): Promise<Client[]> {
  return Promise.all(
    Array.from({ length: count }, async () => {
      const client = newClient();
      await client.connect(new StreamableHTTPClientTransport(new URL(url)));
      return client;
    }),
  );
}

/** Every client has a server of its own: that is how stdio works. */
async function stdioClients(count: number): Promise<Client[]> {
  const clients: Client[] = [];
  for (let index = 0; index < count; index += 1) {
    const client = newClient();
    const args = ["--conditions=@cem/source", STDIO_SERVER];
    await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: "ignore" }));
    clients.push(client);
  }
  return clients;
}

async function closeAll(clients: readonly Client[]): Promise<void> {
  await Promise.all(clients.map((client) => client.close()));
}

/** From starting the process to its first answer. */
async function startToReady(): Promise<number> {
  const started = performance.now();
  const child = spawn(process.execPath, ["--conditions=@cem/source", STDIO_SERVER], {
    stdio: ["pipe", "pipe", "ignore"],
  });
  const params = {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "bench", version: "1" },
  };
  child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params })}\n`);
  await new Promise((resolve) => child.stdout.once("data", resolve));
  const ms = performance.now() - started;
  child.stdin.end();
  await new Promise((resolve) => child.once("close", resolve));
  return round(ms);
}

async function memoryAfter(call: Call, calls: number): Promise<number> {
  for (let done = 0; done < calls; done += 8) await Promise.all(Array.from({ length: 8 }, call));
  globalThis.gc?.();
  return round(process.memoryUsage().rss / MB);
}

const row = (cells: (string | number)[]): string =>
  `${cells.map((cell) => String(cell).padStart(10)).join("")}\n`;
const show = (speed: Speed): void => {
  speeds.push(speed);
  const { path, clients, callsPerSecond, p50Ms, p95Ms } = speed;
  process.stderr.write(row([path, clients, callsPerSecond, p50Ms, p95Ms]));
};

const { agent } = createRealAgent();
const server = createAgentServer({ agent });
const serving = await serveHttp(server, { port: 0, logger: createLogger({ level: "ERROR" }) });
const speeds: Speed[] = [];
process.stderr.write(row(["path", "clients", "calls/s", "p50 ms", "p95 ms"]));
for (const count of CLIENTS) {
  const direct: Call = () => agent.executeCode(CODE);
  await direct();
  show(
    await measure(
      "agent",
      Array.from({ length: count }, () => direct),
    ),
  );
  const overHttp = await httpClients(serving.url, count);
  show(await measure("http", overHttp.map(callOf)));
  await closeAll(overHttp);
  const overStdio = await stdioClients(count);
  await Promise.all(overStdio.map((client) => callOf(client)()));
  show(await measure("stdio", overStdio.map(callOf)));
  await closeAll(overStdio);
}
const readyMs = await startToReady();
const [client] = await httpClients(serving.url, 1);
if (client === undefined) throw new Error("no client");
const early = await memoryAfter(callOf(client), memoryCalls / 10);
const late = await memoryAfter(callOf(client), memoryCalls - memoryCalls / 10);
await client.close();
await serving.close();
await agent.dispose();

process.stderr.write(`start to first answer: ${readyMs} ms\n`);
process.stderr.write(
  `memory: ${early} MB after ${memoryCalls / 10} calls, ${late} MB after ${memoryCalls}\n`,
);
process.stdout.write(
  `${JSON.stringify({ speedCalls, speeds, startToReadyMs: readyMs, memory: { calls: memoryCalls, earlyMb: early, lateMb: late } })}\n`,
);
