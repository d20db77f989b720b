// The time that the queue, PostgreSQL and shared files add to a run, side by side, and runs a second here and with one, two
// and four workers. And what a session saves whose runs are handed to the worker that has its guest, and how soon runs go on elsewhere
// whose workers were killed.
//   node --conditions=@cem/source packages/code-execution-mcp/scripts/bench-queue.ts [runs]
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Agent } from "@cem/core";
import { createRunQueue } from "@cem/queue";
import type { RunQueue } from "@cem/queue";
import { startPostgres } from "../../store/test/postgres-server.ts";
import { startRedis } from "../../store/test/redis-server.ts";
import { createAgent, runWorker } from "../src/index.ts";
import { temporaryFolder } from "../../../scripts/temporary-folder.ts";

const CODE = "return 6 * 7;";
const SLOW_CODE = "await new Promise((resolve) => setTimeout(resolve, 700)); return 6 * 7;";
const WORKING_MS = 5_000;
const BETWEEN_DEATHS_MS = 300;
const CLIENTS = 16;
const WARM_UP = 30;
const WORKERS = [1, 2, 4];
const SESSIONS = 40;
const RUNS_A_SESSION = 4;
const MS_PER_SECOND = 1_000;

/** The services that machines share. */
interface Shared {
  queue?: { url: string; prefix?: string };
  store?: { url: string; files?: "store" };
}

const [word, shared = "{}"] = process.argv.slice(2);
if (word === "worker") await work(JSON.parse(shared) as Shared);
else await measure(Number(word ?? 500));

function optionsFor({ queue = {} as Shared["queue"], store }: Shared, workspaceDir: string) {
  return {
    configFile: false as const,
    config: {
      execution: { typeCheck: "off" as const, workspaceDir, serversDir: "./servers" },
      queue,
      ...(store !== undefined && { store }),
      logging: { level: "CRITICAL" },
    },
  };
}

async function work(parts: Shared): Promise<void> {
  await runWorker(optionsFor(parts, `./workspace-${process.pid}`));
  process.send?.("ready");
}

async function measure(runs: number): Promise<void> {
  const folder = temporaryFolder("cem-bench-queue");
  process.chdir(folder);
  const [redis, postgres] = [await startRedis(), await startPostgres()];
  const workers: ChildProcess[] = [];
  const addWorker = async (parts: Shared): Promise<void> => {
    const command = ["--conditions=@cem/source", import.meta.filename, "worker", JSON.stringify(parts)];
    const worker = spawn(process.execPath, command, { stdio: ["ignore", "inherit", "inherit", "ipc"] });
    workers.push(worker);
    await once(worker, "message");
  };
  const places: { name: string; agent: Agent; times: number[] }[] = [];
  const addPlace = (name: string, agent: Agent): void => void places.push({ name, agent, times: [] });
  // It keeps records, as a worker and a server without a queue do.
  const alone = createAgent({ ...optionsFor({}, "./workspace"), records: true });
  addPlace("here", alone);
  const queues: RunQueue[] = [];
  const store = { url: postgres.url };
  for (const [name, parts] of Object.entries<Shared>({
    "by a worker": {},
    "… and PostgreSQL": { store },
    "… and shared files": { store: { ...store, files: "store" } },
  })) {
    const queue = { url: redis.url, prefix: `{bench${queues.length}}` };
    await addWorker({ ...parts, queue });
    queues.push(createRunQueue(queue));
    addPlace(name, (queues.at(-1) as RunQueue).agent(createAgent(optionsFor({}, "./unused"))));
  }
  // By turns, so that what else the machine does meets all of them.
  for (let at = -WARM_UP; at < runs; at += 1) {
    for (const { agent, times } of places) {
      const [ms = 0] = await latencyOf(agent, 1);
      if (at >= 0) times.push(ms);
    }
  }
  const here = places[0]?.times ?? [];
  for (const { name, times } of places) {
    // Of each round by itself: what slows one place slows the one beside it too.
    const more = quantile(
      times.map((ms, at) => ms - (here[at] ?? 0)),
      0.5,
    );
    process.stdout.write(
      `a run ${name.padEnd(18)} p50 ${quantile(times, 0.5).toFixed(1)} ms, p99 ${quantile(times, 0.99).toFixed(1)} ms; at the median of all rounds ${more.toFixed(1)} ms more than here\n`,
    );
  }
  for (const worker of workers.splice(1)) worker.kill("SIGKILL");
  const queued = (places[1] as (typeof places)[number]).agent;
  const [first, second] = [await rateOf(alone, runs), await rateOf(queued, runs)];
  // Each a second time, in the other order.
  const [fourth, third] = [await rateOf(queued, runs), await rateOf(alone, runs)];
  const [own, byOne] = [(first + third) / 2, (second + fourth) / 2];
  process.stdout.write(
    `runs a second here ${own.toFixed(0)}, with one worker ${byOne.toFixed(0)}: ${(byOne / own).toFixed(2)} times\n`,
  );
  for (const count of WORKERS) {
    while (workers.length < count) await addWorker({ queue: { url: redis.url, prefix: "{bench0}" } });
    process.stdout.write(`runs a second with ${count} workers: ${(await rateOf(queued, runs)).toFixed(0)}\n`);
  }
  const [later, begun]: [number[], number[]] = [[], []];
  for (let session = 0; session < SESSIONS; session += 1) {
    const [begin, ...others] = await latencyOf(queued, RUNS_A_SESSION, `later${session}`);
    begun.push(begin ?? 0);
    later.push(...others);
  }
  process.stdout.write(
    `${workers.length} workers: a session's first run p50 ${quantile(begun, 0.5).toFixed(0)} ms, a later one p50 ${quantile(later, 0.5).toFixed(1)} ms, p95 ${quantile(later, 0.95).toFixed(1)} ms\n`,
  );
  process.stdout.write(
    `${workers.length - 1} of ${workers.length} workers killed: all runs went on within ${(await recoveryOf(queued, workers)).toFixed(1)} s of the last death\n`,
  );
  for (const worker of workers) worker.kill("SIGKILL");
  await Promise.all(places.map(({ agent }) => agent.dispose()));
  await Promise.all(queues.map((queue) => queue.close()));
  await Promise.all([redis.stop(), postgres.stop()]);
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
  // Until each session has a guest, on workers that were added too.
  let left = 2 * runs;
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

/** Kills all workers but one while runs go on. @returns the seconds from the last death until each run was answered. */
async function recoveryOf(agent: Agent, workers: readonly ChildProcess[]): Promise<number> {
  const deaths = { lastAt: 0 };
  const client = async (_: unknown, index: number): Promise<void> => {
    while (deaths.lastAt === 0) await execute(agent, `dying${index}`, SLOW_CODE);
  };
  const clients = Array.from({ length: CLIENTS }, client);
  await sleep(WORKING_MS);
  for (const worker of workers.slice(1)) {
    worker.kill("SIGKILL");
    await sleep(BETWEEN_DEATHS_MS);
  }
  deaths.lastAt = performance.now() - BETWEEN_DEATHS_MS;
  await Promise.all(clients);
  return (performance.now() - deaths.lastAt) / MS_PER_SECOND;
}

async function execute(agent: Agent, session: string, code = CODE): Promise<void> {
  const { value, error } = await agent.executeCode(code, { session });
  if (value !== 42) throw new Error(error?.message ?? "It came to something else.");
}
