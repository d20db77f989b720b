import type { ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { toErrorInfo } from "@cem/core";
import type { TaskResult } from "@cem/core";
import { Redis } from "ioredis";
import { expect, it, onTestFinished } from "vitest";
import { startRedis } from "../../store/test/redis-server.ts";
import type { RedisServer } from "../../store/test/redis-server.ts";
import { spawnWorker } from "../test/spawn-worker.ts";
import { createRunQueue } from "./index.ts";
import type { RunQueue } from "./index.ts";
import { describeWith } from "../../../vitest.tools.ts";

/** How many runs; `npm run test:queue-faults` takes as many as QUEUE_FAULTS says. */
const RUNS = Number(process.env["QUEUE_FAULTS"] ?? 300);
const WORKERS = 3;
const HOSTS = 2;
const AT_ONCE = 48;
const SESSIONS = 7;
/** So many runs begin with each fault, and the next fault is held back until they have: faults meet runs under way. */
const RUNS_A_FAULT = 10;
const MAX_PAUSE_MS = 300;
const LOST_AFTER_MS = 1_000;
const RETRY_MS = 200;
const POLL_MS = 10;
const HOURS_MS = 4 * 3_600_000;

/** Workers as processes, which are replaced when they end. */
class Machines {
  readonly #all: ChildProcess[] = [];
  readonly #start: () => Promise<ChildProcess>;

  constructor(start: () => Promise<ChildProcess>) {
    this.#start = start;
  }

  async fill(): Promise<void> {
    while (this.#all.length < WORKERS) {
      const machine = await this.#start();
      // One that finds no server at its start ends.
      if (machine.exitCode === null) this.#all.push(machine);
    }
  }

  async replace(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    const at = Math.floor(Math.random() * this.#all.length);
    const [machine] = this.#all.splice(at, 1);
    machine?.kill(signal);
    await this.fill();
  }

  /** Stops one until the others must have taken its runs, and lets it go on. */
  async stop(): Promise<void> {
    const machine = this.#all[Math.floor(Math.random() * this.#all.length)];
    machine?.kill("SIGSTOP");
    await sleep(2.5 * LOST_AFTER_MS);
    machine?.kill("SIGCONT");
  }

  end(): void {
    for (const machine of this.#all) machine.kill("SIGKILL");
  }
}

/** The faults, by name, and how likely each is. */
function faultsOf(
  machines: Machines,
  redis: RedisServer,
  admin: Redis,
): [string, number, () => Promise<unknown>][] {
  return [
    ["killed", 5, () => machines.replace("SIGKILL")],
    ["drained", 3, () => machines.replace("SIGTERM")],
    ["stopped", 2, () => machines.stop()],
    [
      "cut",
      4,
      async () => {
        await admin.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
        await admin.call("CLIENT", "KILL", "TYPE", "pubsub");
      },
    ],
    ["redis restarted", 1, () => redis.kill().then(() => redis.start())],
    [
      "redis full",
      1,
      async () => {
        await admin.config("SET", "maxmemory", "1");
        await sleep(500);
        await admin.config("SET", "maxmemory", "0");
      },
    ],
  ];
}

async function until<Result>(ask: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (toErrorInfo(error).code !== "STORE_UNAVAILABLE") throw error;
      await sleep(RETRY_MS);
    }
  }
}

describeWith("redis-server")("runs under random faults", () => {
  it(
    "are each answered once, or interrupted with their calls, and do nothing twice",
    { timeout: HOURS_MS },
    async () => {
      const redis = await startRedis();
      onTestFinished(() => redis.stop());
      const folder = mkdtempSync(path.join(os.tmpdir(), "faults-"));
      onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
      const log = path.join(folder, "calls.log");
      writeFileSync(log, "");
      const machines = new Machines(() => spawnWorker({ url: redis.url, log, lostAfterMs: LOST_AFTER_MS }));
      onTestFinished(() => machines.end());
      await machines.fill();
      const admin = new Redis(redis.url, { maxRetriesPerRequest: null });
      admin.on("error", () => {});
      onTestFinished(() => admin.disconnect());
      const hosts: RunQueue[] = Array.from({ length: HOSTS }, () => createRunQueue({ url: redis.url }));
      onTestFinished(async () => void (await Promise.all(hosts.map((host) => host.close()))));

      const faults = faultsOf(machines, redis, admin).flatMap((fault) =>
        Array.from({ length: fault[1] }, () => fault),
      );
      const happened: Record<string, number> = {};
      const over = new AbortController();
      let [next, started, begun] = [0, 0, 0];
      const breaking = (async () => {
        while (!over.signal.aborted) {
          if (started < Math.min(RUNS, begun * RUNS_A_FAULT)) {
            await sleep(POLL_MS);
            continue;
          }
          await sleep(Math.random() * MAX_PAUSE_MS);
          begun += 1;
          const fault = faults[Math.floor(Math.random() * faults.length)];
          if (fault === undefined) return;
          await fault[2]();
          happened[fault[0]] = (happened[fault[0]] ?? 0) + 1;
        }
      })();

      const results = new Map<number, { tool: string; result: TaskResult; code: string | undefined }>();
      const began = performance.now();
      const mayBegin = (): boolean => started < (begun + 1) * RUNS_A_FAULT;
      const client = async (host: RunQueue): Promise<void> => {
        for (let run = (next += 1); run <= RUNS; run = next += 1) {
          while (!mayBegin()) await sleep(POLL_MS);
          started += 1;
          const tool = Math.random() < 0.5 ? "send" : "look";
          const ms = Math.random() < 0.5 ? Math.floor(Math.random() * 400) : 0;
          const input = JSON.stringify({ id: String(run), tool, ms });
          // Runs of a session are routed from worker to worker.
          const session = Math.random() < 0.5 ? `s${run % SESSIONS}` : undefined;
          const options = { runId: String(run), session };
          const result = await until(() => host.execute({ kind: "code", input }, options));
          results.set(run, { tool, result, code: result.error?.code });
        }
      };
      await Promise.all(hosts.flatMap((host) => Array.from({ length: AT_ONCE / HOSTS }, () => client(host))));
      const seconds = (performance.now() - began) / 1_000;
      over.abort();
      await breaking;

      const sent = new Map<string, number>();
      for (const line of readFileSync(log, "utf8")
        .split("\n")
        .filter((one) => one.startsWith("send ")))
        sent.set(line, (sent.get(line) ?? 0) + 1);
      const answered = [...results].filter(([, { result }]) => result.status === "success");
      const interrupted = [...results].filter(([, { code }]) => code === "RUN_INTERRUPTED");
      const others = [...results].filter(
        ([, { result, code }]) => result.status !== "success" && code !== "RUN_INTERRUPTED",
      );
      console.log(
        `${RUNS} runs in ${seconds.toFixed(0)} s: ${answered.length} answered, ${interrupted.length} interrupted; ${JSON.stringify(happened)}`,
      );
      expect(others.slice(0, 5)).toEqual([]);
      expect(results.size).toBe(RUNS);
      // Nothing that may not be repeated was done twice.
      expect([...sent].filter(([, times]) => times > 1)).toEqual([]);
      // Each answered run was done, and none that was not done was answered.
      const sends = answered.filter(([, { tool }]) => tool === "send");
      expect(sends.filter(([run]) => !sent.has(`send ${run}`))).toEqual([]);
      for (const [run, { result }] of answered) expect(result.value).toEqual({ done: String(run) });
      // A run that was done and not answered was interrupted, and says what it called.
      const cut = interrupted.filter(([run]) => sent.has(`send ${run}`));
      expect(sends.length + cut.length).toBe(sent.size);
      for (const [, { result }] of cut) expect(result.error?.details).toMatchObject({ calls: ["jobs.send"] });
    },
  );
});
