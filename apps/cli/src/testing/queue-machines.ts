import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { vi } from "vitest";
import { runCem, temporaryFolder } from "./run-cem.ts";
import { spawnCem } from "./spawn-cem.ts";

/** What programs import of the project's tools. */
export const JOBS = `import { look, send, remove, ask } from "./servers/jobs/index.ts";`;

const WAIT = { timeout: 60_000, interval: 20 };

/** The command as a process, and what it logs. */
type Machine = ReturnType<typeof spawnCem> & { log: () => string };

/** A project that servers and workers share, on one queue. */
export interface QueueProject {
  /** The calls that tools were given, in order. */
  calls: () => string[];
  /** Starts a server. @returns where clients connect */
  serve: () => Promise<string>;
  work: () => Promise<Machine>;
}

/**
 * Lays out a project with tools whose calls are counted, and whose runs go through a queue.
 *
 * @param settings - Of the configuration, beside those of the queue.
 */
export async function queueProject(
  redisUrl: string,
  settings: Record<string, unknown> = {},
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
    queue: { url: redisUrl, lost_after: 2, concurrency: 2 },
    ...settings,
  };
  writeFileSync(path.join(cwd, "config.yaml"), JSON.stringify(config));
  const env = { CEM_TRUST_FOLDER: "1" };
  const generated = await runCem(["generate"], { cwd, env });
  if (generated.code !== 0) throw new Error(generated.stderr);
  const start = (args: readonly string[]): Machine => {
    const machine = spawnCem(args, { cwd, env });
    let log = "";
    machine.stderr.on("data", (text: string) => (log += text));
    return Object.assign(machine, { log: () => log });
  };
  const told = (machine: Machine, pattern: RegExp): Promise<string> =>
    vi.waitFor(() => {
      const found = pattern.exec(machine.log());
      if (found === null) throw new Error(`It has not said ${String(pattern)} yet: ${machine.log()}`);
      return found[1] ?? "";
    }, WAIT);
  return {
    calls: () => readFileSync(jobs, "utf8").split("\n").filter(Boolean),
    serve: () => told(start(["serve", "http", "--port", "0"]), /"url":"([^"]+)"/u),
    async work() {
      const machine = start(["worker"]);
      await told(machine, /"msg":"taking runs"/u);
      return machine;
    },
  };
}

/** A client whose user says yes to everything and is called Ada. */
export async function connectClient(url: string): Promise<{
  execute: (code: string) => Promise<Record<string, unknown>>;
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
    async execute(code) {
      const params = { name: "execute_code", arguments: { code } };
      const answer = await client.callTool(params, { timeout: 120_000 });
      return answer.structuredContent as Record<string, unknown>;
    },
    close: () => client.close(),
  };
}
