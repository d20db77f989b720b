// What the queue costs: the latency that it adds to a run, and runs a second with one, two and four workers. And what a session
// saves whose runs are handed to the worker that has its guest.
//   node --conditions=@cem/source packages/code-execution-mcp/scripts/bench-queue.ts [runs]
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import type { Agent } from "@cem/core";
import { createRunQueue } from "@cem/queue";
import { startRedis } from "../../store/test/redis-server.ts";
import { createAgent, runWorker } from "../src/index.ts";
import { temporaryFolder } from "../../../scripts/temporary-folder.ts";

const CODE = "return 6 * 7;";
const CLIENTS = 16;
const WARM_UP = 30;
const ROUNDS = 10;
const WORKERS = [1, 2, 4];
const SESSIONS = 40;
const RUNS_A_SESSION = 4;
const MS_PER_SECOND = 1_000;

const [word, url = ""] = process.argv.slice(2);
if (word === "worker") await work(url);
else await measure(Number(word ?? 500));

function optionsFor(queueUrl?: string) {
  return {
    configFile: false as const,
    config: {
      execution: { typeCheck: "off" as const, workspaceDir: "./workspace", serversDir: "./servers" },
      queue: { url: queueUrl },
      logging: { level: "CRITICAL" },
    },
  };
}

async function work(queueUrl: string): Promise<void> {
  await runWorker(optionsFor(queueUrl));
  process.send?.("ready");
}

async function measure(runs: number): Promise<void> {
  const folder = temporaryFolder("cem-bench-queue");
  process.chdir(folder);
  const redis = await startRedis();
  const queue = createRunQueue({ url: redis.url });
  const [alone, local] = [createAgent(optionsFor()), createAgent(optionsFor())];
  const queued = queue.agent(local);
  const workers: ChildProcess[] = [];
  const addWorker = async (): Promise<void> => {
    const worker = spawn(
      process.execPath,
      ["--conditions=@cem/source", import.meta.filename, "worker", redis.url],
      { stdio: ["ignore", "inherit", "inherit", "ipc"] },
    );
    workers.push(worker);
    await once(worker, "message");
  };
  await addWorker();
  await latencyOf(alone, WARM_UP);
  await latencyOf(queued, WARM_UP);
  // They take turns, so that a machine that is busy for a while slows both.
  const here: number[] = [];
  const there: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    here.push(...(await latencyOf(alone, runs / ROUNDS)));
    there.push(...(await latencyOf(queued, runs / ROUNDS)));
  }
  for (const share of [0.5, 0.99]) {
    const [own, others] = [quantile(here, share), quantile(there, share)];
    process.stdout.write(
      `p${share * 100} of a run here ${own.toFixed(1)} ms, by a worker ${others.toFixed(1)} ms: ${(others - own).toFixed(1)} ms added\n`,
    );
  }
  for (const count of WORKERS) {
    while (workers.length < count) await addWorker();
    process.stdout.write(`runs a second with ${count} workers: ${(await rateOf(queued, runs)).toFixed(0)}\n`);
  }
  const [later, first]: [number[], number[]] = [[], []];
  for (let session = 0; session < SESSIONS; session += 1) {
    const [own, ...others] = await latencyOf(queued, RUNS_A_SESSION, `later${session}`);
    first.push(own ?? 0);
    later.push(...others);
  }
  process.stdout.write(
    `${workers.length} workers: a session's first run p50 ${quantile(first, 0.5).toFixed(0)} ms, a later one p50 ${quantile(later, 0.5).toFixed(1)} ms, p95 ${quantile(later, 0.95).toFixed(1)} ms\n`,
  );
  for (const worker of workers) worker.kill("SIGKILL");
  await Promise.all([alone.dispose(), queued.dispose(), queue.close()]);
  await redis.stop();
  process.chdir("/");
  rmSync(folder, { recursive: true, force: true });
}

async function latencyOf(agent: Agent, runs: number, session = "s"): Promise<number[]> {
  const times: number[] = [];
  for (let run = 0; run < runs; run += 1) {
    const started = performance.now();
    await execute(agent, session);
    times.push(performance.now() - started);
  }
  return times;
}

function quantile(times: readonly number[], share: number): number {
  return times.toSorted((one, other) => one - other)[Math.floor(times.length * share)] ?? 0;
}

async function rateOf(agent: Agent, runs: number): Promise<number> {
  let left = runs + WARM_UP;
  let started = performance.now();
  const client = async (_: unknown, index: number): Promise<void> => {
    while (left > 0) {
      left -= 1;
      if (left === runs) started = performance.now();
      await execute(agent, `s${index}`);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return (runs * MS_PER_SECOND) / (performance.now() - started);
}

async function execute(agent: Agent, session: string): Promise<void> {
  const { value, error } = await agent.executeCode(CODE, { session });
  if (value !== 42) throw new Error(error?.message ?? "It came to something else.");
}
