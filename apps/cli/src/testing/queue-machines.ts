import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { vi } from "vitest";
import { runCem, temporaryFolder } from "./run-cem.ts";
import { spawnCem } from "./spawn-cem.ts";

/** Import statement of the project's tools, for programs. */
export const JOBS = `import { look, send, remove, ask } from "./servers/jobs/index.ts";`;

/** Long enough for a start where all tests of the machine run at once. */
const WAIT = { timeout: 180_000, interval: 20 };

/** The command as a process, and what it logs. */
type Machine = ReturnType<typeof spawnCem> & { log: () => string };

/** Starts the command as a process, and keeps what it logs. */
export function startMachine(args: readonly string[], place: Parameters<typeof spawnCem>[1]): Machine {
  const machine = spawnCem(args, place);
  let log = "";
  machine.stderr.on("data", (text: string) => (log += text));
  return Object.assign(machine, { log: () => log });
}

/** Waits until a process logs something. @returns the first group of the pattern. */
export function told(machine: Machine, pattern: RegExp): Promise<string> {
  return vi.waitFor(() => {
    const found = pattern.exec(machine.log());
    if (found === null) throw new Error(`It has not said ${String(pattern)} yet: ${machine.log()}`);
    return found[1] ?? "";
  }, WAIT);
}

/** A project that servers and workers share, on one queue. */
export interface QueueProject {
  /** The calls that tools were given, in order. */
  calls: () => string[];
  /** The `traceparent` of those that had one. */
  traceParents: () => string[];
  /** Starts a server. @returns where clients connect */
  serve: () => Promise<string>;
  /** Ends the server at an address. */
  end: (url: string, signal: "SIGKILL" | "SIGTERM") => Promise<void>;
  work: () => Promise<Machine>;
  /** Stops all servers and workers by SIGTERM, and waits for their ends. */
  stop: () => Promise<void>;
}

/**
 * Lays out a project with tools whose calls are counted, and whose runs go through a queue.
 *
 * @param more - Variables of all processes, and settings of the section `server`.
 */
export async function queueProject(
  redisUrl: string,
  more: { env?: Record<string, string>; server?: Record<string, unknown> } = {},
): Promise<QueueProject> {
  const cwd = temporaryFolder();
  const jobs = path.join(cwd, "jobs.log");
  writeFileSync(jobs, "");
  const server = {
    command: process.execPath,
    args: [path.join(import.meta.dirname, "jobs-server.ts")],
    env: { JOBS_LOG: jobs },
  };
  const config = {
    mcp_servers: { jobs: server },
    execution: { type_check: "off" },
    server: more.server ?? {},
    queue: { url: redisUrl, lost_after: 2, concurrency: 2 },
  };
  writeFileSync(path.join(cwd, "config.yaml"), JSON.stringify(config));
  const env = { CEM_TRUST_FOLDER: "1" };
  const generated = await runCem(["generate"], { cwd, env });
  if (generated.code !== 0) throw new Error(generated.stderr);
  const machines: Machine[] = [];
  const start = (args: readonly string[]): Machine => {
    const machine = startMachine(args, { cwd, env: { ...env, ...more.env } });
    machines.push(machine);
    return machine;
  };
  return {
    traceParents: () => readFileSync(`${jobs}.traces`, "utf8").split("\n").filter(Boolean),
    calls: () => readFileSync(jobs, "utf8").split("\n").filter(Boolean),
    serve: () => told(start(["serve", "http", "--port", "0"]), /"url":"([^"]+)"/u),
    async end(url, signal) {
      const machine = machines.find(({ log }) => log().includes(`"url":"${url}"`));
      machine?.kill(signal);
      await machine?.ended;
    },
    async work() {
      const machine = start(["worker"]);
      await told(machine, /"msg":"taking runs"/u);
      return machine;
    },
    async stop() {
      for (const machine of machines) machine.kill("SIGTERM");
      await Promise.all(machines.map(({ ended }) => ended));
    },
  };
}

/** A client whose user says yes to everything and is called Ada. */
export async function connectClient(url: string): Promise<{
  execute: (code: string, meta?: Record<string, unknown>) => Promise<Record<string, unknown>>;
  asked: string[];
  close: () => Promise<void>;
}> {
  const asked: string[] = [];
  const client = new Client(
    { name: "test", version: "1.0.0" },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: "legacy" } },
  );
  client.setRequestHandler("elicitation/create", async ({ params }) => {
    asked.push(params.message);
    const isName = params.message.includes("Who?");
    return { action: "accept" as const, content: isName ? { name: "Ada" } : { answer: "Yes, this once" } };
  });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return {
    asked,
    async execute(code, meta) {
      const params = {
        name: "execute_code",
        arguments: { code },
        ...(meta === undefined ? {} : { _meta: meta }),
      };
      const answer = await client.callTool(params, { timeout: 120_000 });
      return answer.structuredContent as Record<string, unknown>;
    },
    close: () => client.close(),
  };
}
