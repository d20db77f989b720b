import { readFileSync } from "node:fs";
import path from "node:path";
import { Redis } from "ioredis";
import { describe, expect, it } from "vitest";
import { startRedis } from "../../../packages/store/test/redis-server.ts";
import { createSharedRuns } from "../../../packages/queue/src/shared-runs.ts";
import { FairTurns } from "./fair-turns.ts";
import type { Measured } from "./measured.ts";
import { renderPage } from "./page.ts";
import { renderPlots } from "./plots.ts";
import { sizeOf, validate } from "./scenarios.ts";
import type { Results } from "./scenarios.ts";
import { simulate } from "./simulate.ts";
import { describeWith } from "../../../vitest.tools.ts";

/** How many runs of one turn are told apart by the order in which they came. */
const WITHIN_TURN = 1_048_576;
const docs = path.resolve(import.meta.dirname, "../../../docs");
const read = (...file: string[]): string => readFileSync(path.join(...file), "utf8");
const measured = JSON.parse(read(import.meta.dirname, "../measured.json")) as Measured;
const results = JSON.parse(read(import.meta.dirname, "../results.json")) as Results;

// Where one fails: npm run scale.
describe("docs/scale.md", () => {
  it("says what was measured and simulated", () => {
    expect(read(docs, "scale.md")).toBe(renderPage(measured, results));
  });

  it("has the plots of it", () => {
    for (const [name, svg] of Object.entries(renderPlots(measured, results))) {
      expect(read(docs, "public/scale", `${name}.svg`)).toBe(svg);
      expect(svg).not.toMatch(/NaN|Infinity|undefined/);
    }
  });

  it("has results that come out again", () => {
    expect(validate(measured)).toEqual(results.validation);
    for (const isRouted of [true, false]) {
      const told = results.sizes.find((size) => size.workers === 10 && size.isRouted === isRouted);
      expect(sizeOf(measured, 10, isRouted)).toEqual(told);
    }
  });
});

describeWith("redis-server")("FairTurns", () => {
  it("takes the turns that the queue takes in Redis", async () => {
    const server = await startRedis();
    const client = new Redis(server.url);
    try {
      const [real, simulated] = [createSharedRuns(client, "{test}"), new FairTurns()];
      for (let step = 0; step < 300; step += 1) {
        const customer = (step * step) % 7;
        const [id, owner] = [`run${step}`, String(customer)];
        const run = { kind: "code" as const, input: "", owner, options: {}, asked: [] };
        const own = Math.min(step, simulated.waitingOf(customer));
        const put = (maxWaiting: number) => real.put(id, run, "x", "h", maxWaiting);
        expect(await put(step)).toEqual({ waiting: step, own });
        expect(await put(10_000)).toEqual({});
        const turn = simulated.take(customer);
        const score = Number(await client.zscore("{test}:runs:waiting", id));
        expect(Math.floor(score / WITHIN_TURN)).toBe(turn);
        if (step % 3 === 0) {
          simulated.serve(turn);
          await client.set("{test}:turns:stands", turn);
        }
      }
    } finally {
      client.disconnect();
      await server.stop();
    }
  });
});

describe("simulate", () => {
  const cost = { workerCpuMs: 1, hostCpuMs: 0, redisCpuMs: 0.003, redisCommands: 0 };
  const scenario = {
    workers: 1,
    slots: 1,
    customers: 10,
    runsPerSecond: 1,
    seconds: 10,
    settleSeconds: 0,
    seed: 0.5,
    warm: cost,
    cold: { ...cost, workerCpuMs: 11 },
    idleRedisCpuMsPerSecond: 0,
    isFair: true,
    isRouted: true,
    maxWaiting: 10,
    keptGuests: 1,
  };

  it("has runs wait for a slot, and start cold once", () => {
    const trace = [0, 0, 0].map((atMs) => ({ atMs, holdMs: 100, session: 1 }));
    const { overhead, warmPercent } = simulate(scenario, trace);
    // 11 of the first, then 100 of it and one of the second, and so on.
    expect(overhead).toMatchObject({ count: 3, p50: 112, p99: 213 });
    expect(warmPercent).toBeCloseTo(66.7);
  });

  it("serves customers in turn", () => {
    const flood = Array.from({ length: 8 }, () => ({ atMs: 0, holdMs: 100, session: 1 }));
    const trace = [...flood, { atMs: 50, holdMs: 100, session: 2 }];
    const waits = (isFair: boolean) => simulate({ ...scenario, isFair, customers: 1_000 }, trace).waits.heavy;
    expect(waits(true).count).toBe(9);
    // The one that came last waits for one run, not for eight.
    expect(waits(true).p50).toBeGreaterThan(waits(false).p50);
  });

  it("refuses what the queue has no room for", () => {
    const trace = Array.from({ length: 30 }, () => ({ atMs: 1, holdMs: 100, session: 1 }));
    const { refusedPercent } = simulate({ ...scenario, customers: 1_000, maxWaiting: 0 }, trace);
    expect(refusedPercent.heavy).toBe(100);
  });
});
