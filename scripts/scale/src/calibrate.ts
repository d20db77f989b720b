// Measures what the simulation is calibrated with, on this machine with a real Redis and real workers:
//   npm run scale:calibrate        writes scripts/scale/measured.json
// Processor times, counts and memory hardly depend on what else the machine does; waiting does, so nothing else should run.
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { createRunQueue } from "@cem/queue";
import { createAgent, runWorker } from "code-execution-mcp";
import type { Agent } from "code-execution-mcp";
import { Redis } from "ioredis";
import { startPostgres } from "../../../packages/store/test/postgres-server.ts";
import { startRedis } from "../../../packages/store/test/redis-server.ts";
import { createSharedRuns } from "../../../packages/queue/src/shared-runs.ts";
import { temporaryFolder } from "../../temporary-folder.ts";
import { treeOf } from "./processes.ts";
import { summarize } from "./statistics.ts";
import { VALIDATION, validationTrace } from "./validation.ts";
import type { Measured, Observed, RunCost } from "./measured.ts";

const RUNS = 400;
const SESSIONS = 16;
const SHARED_RUNS = 100;
const WARM_UP_ROUNDS = 3;
const IDLE_MS = 5_000;
const MS_PER_SECOND = 1_000;
const MICROSECONDS = 1_000;
const CODE = "return 6 * 7;";
const [SIGNING_WORKERS, SIGN_ROUNDS] = [200, 10];
/** As workers sign that have no other settings. */
const [LOST_AFTER_MS, SIGNS_PER_LOSS] = [8_000, 5];

const [word, url = "", concurrency = "4", storeUrl = ""] = process.argv.slice(2);
if (word === "worker") await work();
else await calibrate();

function optionsFor(queueUrl?: string) {
  return {
    configFile: false as const,
    config: {
      execution: { typeCheck: "off" as const, workspaceDir: "./workspace", serversDir: "./servers" },
      queue: { url: queueUrl, concurrency: Number(concurrency) },
      ...(storeUrl !== "" && { store: { url: storeUrl, files: "store" } }),
      logging: { level: "CRITICAL" },
    },
  };
}

async function work(): Promise<void> {
  await runWorker(optionsFor(url));
  process.send?.("ready");
}

async function calibrate(): Promise<void> {
  const folder = temporaryFolder("cem-scale");
  process.chdir(folder);
  try {
    const [load = 0] = os.loadavg();
    const costs = { ...(await measureCosts()), shared: await measureShared() };
    const observed: Observed[] = [];
    for (const workers of VALIDATION.workers) observed.push(await observe(workers));
    const machine = `${os.cpus().length} cores of ${os.cpus()[0]?.model ?? "?"}, Node ${process.versions.node}, with a load average of ${load.toFixed(1)} before`;
    const measured: Measured = { machine, ...costs, observed };
    writeFileSync(
      path.join(import.meta.dirname, "../measured.json"),
      `${JSON.stringify(measured, undefined, 2)}\n`,
    );
  } finally {
    process.chdir("/");
  }
}

/** A queue with so many workers, each a process of its own. */
async function withWorkers<Result>(
  count: number,
  slots: number,
  measure: (parts: { agent: Agent; workers: ChildProcess[]; redis: Redis }) => Promise<Result>,
  store = "",
): Promise<Result> {
  const server = await startRedis();
  const redis = new Redis(server.url);
  const queue = createRunQueue({ url: server.url });
  const agent = queue.agent(createAgent(optionsFor()));
  const workers: ChildProcess[] = [];
  try {
    for (let index = 0; index < count; index += 1) {
      const parts = [server.url, String(slots), store];
      const args = ["--conditions=@cem/source", import.meta.filename, "worker", ...parts];
      const worker = spawn(process.execPath, args, { stdio: ["ignore", "inherit", "inherit", "ipc"] });
      workers.push(worker);
      await once(worker, "message");
    }
    return await measure({ agent, workers, redis });
  } finally {
    for (const worker of workers) worker.kill("SIGKILL");
    await agent.dispose();
    await queue.close();
    redis.disconnect();
    await server.stop();
  }
}

/** The cost of a run whose workspace is shared in PostgreSQL, with the log of its session. */
async function measureShared(): Promise<Measured["shared"]> {
  const postgres = await startPostgres();
  const commits = async (): Promise<number> => {
    // Counts are handed in when a connection rests.
    await idleTime();
    return postgres.commits();
  };
  try {
    return await withWorkers(
      1,
      1,
      async ({ agent, workers: [worker] }) => {
        const pid = worker?.pid ?? 0;
        for (let index = 0; index < RUNS / 8; index += 1) await execute(agent, CODE, "s");
        const [committed, before, server] = [await commits(), treeOf(pid), treeOf(postgres.pid)];
        for (let index = 0; index < SHARED_RUNS; index += 1) await execute(agent, CODE, "s");
        const [after, afterServer] = [treeOf(pid), treeOf(postgres.pid)];
        return {
          workerCpuMs: (after.cpuMs - before.cpuMs) / SHARED_RUNS,
          postgresCpuMs: (afterServer.cpuMs - server.cpuMs) / SHARED_RUNS,
          postgresCommits: Math.round(((await commits()) - committed) / SHARED_RUNS),
        };
      },
      postgres.url,
    );
  } finally {
    await postgres.stop();
  }
}

async function measureCosts(): Promise<Omit<Measured, "machine" | "observed" | "shared">> {
  const idleRedisCpuMsPerSecond = await withWorkers(0, SESSIONS, ({ redis }) => costOfSigns(redis));
  const costs = await withWorkers(1, SESSIONS, async ({ agent, workers, redis }) => {
    const pid = workers[0]?.pid ?? 0;
    const run = (session: string) => execute(agent, CODE, session);
    const between = async (count: number, act: () => Promise<void>): Promise<RunCost> => {
      const [worker, host] = [treeOf(pid).cpuMs, process.cpuUsage()];
      const used = await redisUseWhile(redis, act);
      const { user, system } = process.cpuUsage(host);
      return {
        workerCpuMs: (treeOf(pid).cpuMs - worker) / count,
        hostCpuMs: (user + system) / MICROSECONDS / count,
        redisCpuMs: used.cpuMs / count,
        redisCommands: Math.round(used.commands / count),
      };
    };
    // Work that the worker and Redis do once, for their first runs, is not counted.
    for (let index = 0; index < RUNS / 4; index += 1) await run("s0");
    const empty = treeOf(pid);
    // As many sessions as a worker keeps: of a guest that has ended, nobody knows what it used.
    const coldMs: number[] = [];
    const cold = await between(SESSIONS - 1, async () => {
      for (let index = 1; index < SESSIONS; index += 1) coldMs.push(await run(`s${index}`));
    });
    const guestMiB = (treeOf(pid).memoryMiB - empty.memoryMiB) / (SESSIONS - 1);
    const rounds = async (count: number) => {
      const client = async (_: unknown, index: number) => {
        for (let done = 0; done < count / SESSIONS; done += 1) await run(`s${index}`);
      };
      await Promise.all(Array.from({ length: SESSIONS }, client));
    };
    await rounds(RUNS / 2);
    const warm = await between(RUNS, () => rounds(RUNS));
    const warmMs: number[] = [];
    for (let index = 0; index < RUNS / 4; index += 1) warmMs.push(await run("s0"));
    return {
      warm,
      cold,
      idleRedisCpuMsPerSecond,
      guestMiB,
      workerMiB: empty.memoryMiB,
      warmMs: summarize(warmMs).p50,
      coldMs: summarize(coldMs).p50,
    };
  });
  return costs;
}

/** The cost of a waiting worker for Redis in a second: its signs of life. Of many workers, as one's are lost in what Redis does anyway. */
async function costOfSigns(redis: Redis): Promise<number> {
  const runs = createSharedRuns(redis, "{signs}");
  const settings = { slots: 4, keepsGuests: true, lostAfterMs: LOST_AFTER_MS };
  const { cpuMs } = await redisUseWhile(redis, async () => {
    for (let round = 0; round < SIGN_ROUNDS; round += 1)
      await Promise.all(
        Array.from({ length: SIGNING_WORKERS }, (_, at) => runs.sign(String(at), settings, [])),
      );
  });
  const signsPerSecond = (SIGNS_PER_LOSS * MS_PER_SECOND) / LOST_AFTER_MS;
  return (cpuMs / SIGNING_WORKERS / SIGN_ROUNDS) * signsPerSecond;
}

async function idleTime(): Promise<void> {
  await new Promise((done) => setTimeout(done, IDLE_MS));
}

async function redisUseWhile(
  redis: Redis,
  act: () => Promise<void>,
): Promise<{ cpuMs: number; commands: number }> {
  const before = await redisUse(redis);
  await act();
  const after = await redisUse(redis);
  return { cpuMs: after.cpuMs - before.cpuMs, commands: after.commands - before.commands };
}

async function redisUse(redis: Redis): Promise<{ cpuMs: number; commands: number }> {
  const text = `${await redis.info("cpu")}\n${await redis.info("stats")}`;
  const value = (name: string) => Number(new RegExp(`^${name}:([\\d.]+)`, "m").exec(text)?.[1] ?? Number.NaN);
  return {
    cpuMs: (value("used_cpu_sys") + value("used_cpu_user")) * MS_PER_SECOND,
    commands: value("total_commands_processed"),
  };
}

/** Has real workers execute the trace that the simulation gets, too. Sessions take turns, so that none overlaps itself. */
async function observe(count: number): Promise<Observed> {
  return withWorkers(count, VALIDATION.slots, async ({ agent }) => {
    const sessions = Array.from({ length: SESSIONS }, (_, index) => `s${index}`);
    for (let round = 0; round < WARM_UP_ROUNDS * count; round += 1) {
      await Promise.all(sessions.map((session) => execute(agent, sleepFor(VALIDATION.holdMs[0]), session)));
    }
    const started = performance.now();
    const latencies = await Promise.all(
      validationTrace(count).map(async ({ atMs, holdMs }, index) => {
        await new Promise((due) => setTimeout(due, atMs - (performance.now() - started)));
        const session = sessions.shift() ?? `more-${index % SESSIONS}`;
        const latency = await execute(agent, sleepFor(holdMs), session);
        sessions.push(session);
        return latency - holdMs;
      }),
    );
    return { workers: count, ...summarize(latencies) };
  });
}

function sleepFor(milliseconds: number): string {
  return `await new Promise((done) => setTimeout(done, ${milliseconds}));\nreturn 42;`;
}

async function execute(agent: Agent, code: string, session: string): Promise<number> {
  const started = performance.now();
  const { value, error } = await agent.executeCode(code, { session });
  if (value !== 42) throw new Error(error?.message ?? "It came to something else.");
  return performance.now() - started;
}
