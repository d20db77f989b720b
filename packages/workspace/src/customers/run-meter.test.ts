import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { CemError, forClients } from "@cem/core";
import type { RunStop, RunTicket, Store } from "@cem/core";
import { createFolderStore } from "@cem/store";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { createSharedUsage, createUsageFile, quotaUsage } from "./quotas.ts";
import type { CustomerQuota } from "./quotas.ts";
import { createRunMeter } from "./run-meter.ts";

const HOUR = 3_600_000;
let home: string;
beforeEach(async () => {
  home = path.join(await mkdtemp(path.join(os.tmpdir(), "cem-meter-")), "ada");
  await mkdir(home);
});
afterEach(async () => {
  vi.useRealTimers();
  await rm(path.dirname(home), { recursive: true, force: true });
});

/** Has the time of day be set by hand. */
function holdClock(): void {
  vi.useFakeTimers({ toFake: ["Date"], now: 1_700_000_000_000 });
}

function moveClock(ms: number): void {
  vi.setSystemTime(Date.now() + ms);
}

async function readQuotas(quotas: readonly CustomerQuota[]) {
  const usage = await createUsageFile(home).read();
  return quotas.map((quota) => quotaUsage(usage, quota));
}

const isTicket = (admitted: RunTicket | RunStop): admitted is RunTicket => "settle" in admitted;

/** Runs that take some milliseconds each, until one may not begin or is stopped. */
async function use(
  quotas: readonly CustomerQuota[],
  { runs, ms = 0 }: { runs: number; ms?: number },
): Promise<number> {
  const meter = createRunMeter({ home, quotas });
  for (let run = 0; run < runs; run += 1) {
    const admitted = await meter.admit();
    if (!isTicket(admitted)) return run;
    admitted.watch({ spentMs: () => ms, stop: () => {} });
    await admitted.settle();
  }
  return runs;
}

describe("a customer's quota of runs", () => {
  const quotas: CustomerQuota[] = [{ per: "hour", runs: 3 }];

  it("ends with a refusal that says what was used and when it is free again", async () => {
    holdClock();
    expect(await use(quotas, { runs: 5 })).toBe(3);
    moveClock(HOUR / 2);
    const refused = await createRunMeter({ home, quotas }).admit();
    expect(refused).toEqual({
      code: "QUOTA_EXCEEDED",
      message: "3 of 3 runs per hour are used up. Nothing was run. They are free again in 30 min.",
      details: expect.objectContaining({
        quota: "runs",
        per: "hour",
        runs: 3,
        maxRuns: 3,
        retryAfterMs: HOUR / 2,
      }),
    });
    expect(await readQuotas(quotas)).toMatchObject([{ runs: 3, resetsInMs: HOUR / 2 }]);
    moveClock(HOUR / 2);
    expect(await use(quotas, { runs: 5 })).toBe(3);
  });

  it("ends in time where the time of day went back by years", async () => {
    holdClock();
    expect(await use(quotas, { runs: 5 })).toBe(3);
    moveClock(-HOUR * 24 * 3_650);
    expect(await use(quotas, { runs: 1 })).toBe(0);
    moveClock(HOUR);
    expect(await use(quotas, { runs: 5 })).toBe(3);
  });

  it("holds where several quotas do, each for its time", async () => {
    holdClock();
    const both: CustomerQuota[] = [
      { per: "minute", runs: 2 },
      { per: "hour", runs: 3 },
    ];
    expect(await use(both, { runs: 9 })).toBe(2);
    moveClock(60_000);
    expect(await use(both, { runs: 9 })).toBe(1);
    moveClock(60_000);
    expect(await createRunMeter({ home, quotas: both }).admit()).toMatchObject({
      details: { per: "hour" },
    });
  });

  it("is used together by processes, and outlives them", async () => {
    const script = `
      import { createRunMeter } from ${JSON.stringify(new URL("run-meter.ts", import.meta.url).href)};
      const meter = createRunMeter({ home: ${JSON.stringify(home)}, quotas: [{ per: "week", runs: 40 }] });
      let ran = 0;
      for (let at = 0; at < 10; at += 1) {
        const all = await Promise.all(Array.from({ length: 4 }, () => meter.admit()));
        for (const one of all) if ("settle" in one) { ran += 1; await one.settle(); }
      }
      console.log(ran);`;
    const run = promisify(execFile);
    const flags = ["--conditions=@cem/source", "--input-type=module", "-e", script];
    const ended = await Promise.all([1, 2].map(() => run(process.execPath, flags)));
    const counts = ended.map(({ stdout }) => Number(stdout));
    expect(counts[0] ?? 0).toBeGreaterThan(0);
    expect((counts[0] ?? 0) + (counts[1] ?? 0)).toBe(40);
    expect(await createRunMeter({ home, quotas: [{ per: "week", runs: 40 }] }).admit()).toMatchObject({
      code: "QUOTA_EXCEEDED",
    });
    expect(
      (await readdir(path.join(path.dirname(home), ".quotas"))).filter((name) => name.endsWith(".tmp")),
    ).toEqual([]);
  }, 60_000);
});

describe("a run that is repeated because its worker was lost or stopped", () => {
  const quotas: CustomerQuota[] = [{ per: "hour", runs: 1, seconds: 10 }];
  const stores = () => ["files", "a store"].map((kind) => (kind === "files" ? undefined : sharedStore()));
  const sharedStore = () => {
    const store = createFolderStore({ folder: path.join(path.dirname(home), "store") });
    onTestFinished(() => store.close());
    return store;
  };
  const admit = async (
    run: string,
    { store, signal }: { store?: Store | undefined; signal?: AbortSignal } = {},
  ) => createRunMeter({ home, quotas, store }).admit({ run, signal });

  it("is charged once, whether its first attempt was killed or aborted", async () => {
    for (const store of stores()) {
      const meter = createRunMeter({ home, quotas, store });
      // Killed: never settled.
      expect(isTicket(await admit("run-1", { store }))).toBe(true);
      expect(await meter.check("run-1")).toBeUndefined();
      const reason = new CemError("ABORTED", "The worker stops.", { details: { isInterrupted: true } });
      const stopped = await admit("run-1", { store, signal: AbortSignal.abort(reason) });
      await (stopped as RunTicket).settle();
      const repeated = await admit("run-1", { store });
      const usage = store === undefined ? createUsageFile(home) : createSharedUsage(store, "ada");
      expect((await usage.read()).periods.hour?.runs).toBe(1);
      await (repeated as RunTicket).settle();
      for (const other of [await admit("run-1", { store }), await admit("run-2", { store })])
        expect(other).toMatchObject({ code: "QUOTA_EXCEEDED", details: { quota: "runs" } });
    }
  });

  it("is charged again where its caller cancelled it", async () => {
    const meter = createRunMeter({ home, quotas });
    const cancelled = await meter.admit({ run: "run-1", signal: AbortSignal.abort() });
    await (cancelled as RunTicket).settle();
    expect(await meter.admit({ run: "run-1" })).toMatchObject({ code: "QUOTA_EXCEEDED" });
  });

  it("is not told that nothing was run where it may not go on", async () => {
    const meter = createRunMeter({ home, quotas: [{ per: "hour", seconds: 1 }] });
    expect(isTicket(await meter.admit({ run: "run-1" }))).toBe(true);
    expect(await meter.admit({ run: "run-1" })).toMatchObject({
      message: expect.stringContaining("are used up. The run was stopped."),
    });
    // Another program of a run, which repairs the first one.
    const { signal } = new AbortController();
    const both = createRunMeter({ home, quotas: [{ per: "week", runs: 1 }] });
    await ((await both.admit({ run: "run-3", signal })) as RunTicket).settle();
    expect(await both.admit({ run: "run-3", signal })).toMatchObject({
      message: expect.stringContaining("are used up. The run was stopped."),
    });
    expect(await meter.admit({ run: "run-2" })).toMatchObject({
      message: expect.stringContaining("are used up. Nothing was run."),
    });
  });
});

describe("a customer's quota of seconds", () => {
  const quotas: CustomerQuota[] = [{ per: "day", seconds: 2 }];

  it("stops a run that would use more, and lets none begin after it", async () => {
    holdClock();
    const meter = createRunMeter({ home, quotas });
    const ticket = (await meter.admit()) as RunTicket;
    let spent = 0;
    const stopped = Promise.withResolvers<RunStop>();
    const timer = setInterval(() => (spent = Math.min(spent + 50, 2_100)), 10);
    ticket.watch({ spentMs: () => spent, stop: stopped.resolve });
    expect(await stopped.promise).toMatchObject({
      code: "QUOTA_EXCEEDED",
      message: expect.stringMatching(
        /^2 of 2 seconds of runs per day are used up\. The run was stopped\. They are free again in 24 h\.$/u,
      ),
    });
    clearInterval(timer);
    expect(spent).toBeGreaterThanOrEqual(2_000);
    await ticket.settle();
    expect(await meter.admit()).toMatchObject({ code: "QUOTA_EXCEEDED", details: { quota: "seconds" } });
  });

  it("gives back what a run paid for and did not use", async () => {
    holdClock();
    expect(await use(quotas, { runs: 100, ms: 30 })).toBe(67);
    expect(await readQuotas(quotas)).toMatchObject([{ runs: 67, seconds: 2.01, maxSeconds: 2 }]);
  });

  it("is paid before it is used, so that runs at once stay below it together", async () => {
    holdClock();
    const meter = createRunMeter({ home, quotas });
    const admitted = [];
    for (let run = 0; run < 5; run += 1) admitted.push(await meter.admit());
    expect(admitted.filter(isTicket)).toHaveLength(2);
  });

  it("gives nothing back into the next period", async () => {
    holdClock();
    const meter = createRunMeter({ home, quotas: [{ per: "minute", seconds: 2 }] });
    const first = (await meter.admit()) as RunTicket;
    moveClock(60_000);
    const second = (await meter.admit()) as RunTicket;
    await first.settle();
    second.watch({ spentMs: () => 900, stop: () => {} });
    await second.settle();
    expect(await readQuotas([{ per: "minute", seconds: 2 }])).toMatchObject([{ seconds: 0.9 }]);
  });
});

describe("the meter of a customer", () => {
  it("refuses runs, and stops those under way, once the customer is deleted", async () => {
    for (const quotas of [[], [{ per: "hour", runs: 100 }]] as CustomerQuota[][]) {
      await mkdir(home, { recursive: true });
      const meter = createRunMeter({ home, quotas });
      const ticket = (await meter.admit()) as RunTicket;
      const stopped = Promise.withResolvers<RunStop>();
      ticket.watch({ spentMs: () => 1, stop: stopped.resolve });
      await rename(home, `${home}-gone`);
      expect(await stopped.promise).toMatchObject({ code: "OWNER_GONE" });
      await ticket.settle();
      expect(await meter.admit()).toMatchObject({ code: "OWNER_GONE" });
      // Another customer of the same name is not this one.
      await mkdir(home);
      await vi.waitFor(async () => expect(await meter.admit()).toMatchObject({ code: "OWNER_GONE" }));
      await rm(`${home}-gone`, { recursive: true });
    }
  });

  it("lets nothing run where the use can't be noted, and tells clients no file of the host", async () => {
    const meter = createRunMeter({ home, quotas: [{ per: "hour", runs: 100 }] });
    await writeFile(path.join(path.dirname(home), ".quotas"), "in the way");
    const { code, message } = (await meter.admit()) as RunStop;
    expect(message).toMatch(/\.quotas.*Nothing was run\./u);
    expect(forClients({ code, message }).message).toMatch(/^A service behind this server/u);
  });

  it("begins anew where its file is broken", async () => {
    const quota: CustomerQuota[] = [{ per: "hour", runs: 2 }];
    expect(await use(quota, { runs: 3 })).toBe(2);
    const folder = path.join(path.dirname(home), ".quotas");
    const [file = ""] = await readdir(folder);
    await writeFile(path.join(folder, file), '{"hour":{');
    expect(await use(quota, { runs: 3 })).toBe(2);
  });
});
