import { CemError, type RunOutcome } from "@cem/core";
import { afterEach, describe, expect, it, vi } from "vitest";
import { FairGate } from "./fair-gate.ts";
import { createGuestSandbox, type GuestSandbox, type GuestSandboxSettings } from "./guest-sandbox.ts";
import { startScriptedGuest } from "./testing.ts";

const isolation = { level: "permissions", sandbox: "scripted", mechanisms: ["none"] } as const;
const DONE = `send({ type: "done", value: process.pid });`;
const LATER_MS = 60_000;

describe("a sandbox's pool", () => {
  const made: GuestSandbox[] = [];
  afterEach(async () => {
    vi.restoreAllMocks();
    await Promise.all(made.splice(0).map((sandbox) => sandbox.dispose()));
  });

  const open = (behave: string, more: Partial<GuestSandboxSettings> = {}, answer?: string): GuestSandbox => {
    const sandbox = createGuestSandbox({
      isolation,
      gate: new FairGate(8),
      standby: 1,
      startGuest: () => startScriptedGuest(behave, answer),
      ...more,
    });
    made.push(sandbox);
    return sandbox;
  };
  const valueOf = (outcome: RunOutcome): unknown =>
    outcome.status === "completed" ? outcome.value : outcome;
  /** Lets everything that waits have waited for a minute. */
  const passTime = () => {
    const now = performance.now.bind(performance);
    vi.spyOn(performance, "now").mockImplementation(() => now() + LATER_MS);
  };

  it("asks a guest that has waited how it is, and takes it when it answers", async () => {
    const sandbox = open(DONE);
    passTime();
    expect(valueOf(await sandbox.run({ code: "" }))).toEqual(expect.any(Number));
    expect(sandbox.stats()).toMatchObject({ hits: 1, lost: 0 });
  });

  it.each([
    ["that it is something else", `send({ type: "done", value: 1 });`],
    ["nothing", ""],
    ["by going away", "process.exit(0);"],
  ])("throws away a guest that answers %s", async (_, answer) => {
    const sandbox = open(DONE, { healthTimeoutMs: 300 }, answer);
    passTime();
    expect(valueOf(await sandbox.run({ code: "" }))).toEqual(expect.any(Number));
    expect(sandbox.stats()).toMatchObject({ hits: 0, misses: 1, lost: 1 });
  });

  it("starts another guest where one failed to start, and tells when that fails too", async () => {
    const failing = (times: number) => {
      let left = times;
      const startGuest = async () => {
        left -= 1;
        if (left >= 0) throw new CemError("GUEST_START_FAILED", "It did not boot.");
        return startScriptedGuest(DONE);
      };
      return open(DONE, { standby: 0, startGuest });
    };
    const once = failing(1);
    expect(valueOf(await once.run({ code: "" }))).toEqual(expect.any(Number));
    expect(once.stats()).toMatchObject({ started: 1, lost: 1 });
    expect(JSON.stringify(await failing(2).run({ code: "" }))).toContain("It did not boot.");
  });

  it("refuses a run that waited too long for its turn, and says how many wait", async () => {
    const sandbox = open(`setInterval(() => {}, 1000);`, { gate: new FairGate(1), queueTimeoutMs: 100 });
    const abort = new AbortController();
    const endless = sandbox.run({ code: "", signal: abort.signal });
    const late = await sandbox.run({ code: "" });
    expect(late).toMatchObject({
      status: "refused",
      code: "SANDBOX_BUSY",
      message: expect.stringContaining("100 ms"),
    });
    abort.abort();
    expect(await endless).toMatchObject({ status: "killed", reason: "aborted" });
  });

  it("lets sessions take turns, however busy one is", async () => {
    const sandbox = open(DONE, { gate: new FairGate(1) });
    const order: string[] = [];
    const run = async (session: string) => {
      await sandbox.run({ code: "", session });
      order.push(session);
    };
    await Promise.all([...Array.from({ length: 6 }, () => run("busy")), run("calm")]);
    expect(order.indexOf("calm")).toBeLessThan(3);
  });

  it("grows while runs find no guest, up to its limit, and shrinks when nothing runs", async () => {
    const slow = `setTimeout(() => { ${DONE} }, 100);`;
    const sandbox = open(slow, { maxStandby: 3, idleMs: 1_500 });
    await Promise.all(Array.from({ length: 8 }, () => sandbox.run({ code: "" })));
    await expect.poll(() => sandbox.stats().standby).toBe(3);
    await expect.poll(() => sandbox.stats().standby, { timeout: 5_000 }).toBe(0);
    await sandbox.run({ code: "" });
    await expect.poll(() => sandbox.stats().standby).toBeLessThanOrEqual(2);
  });

  it("keeps a guest for its session only, and waits for one that is about to be free", async () => {
    const slowAnswer = `setTimeout(() => send({ type: "ready", version: "1" }), 50);`;
    const sandbox = open(DONE, { reuse: "session" }, slowAnswer);
    const values: unknown[] = [];
    for (let index = 0; index < 3; index += 1)
      values.push(valueOf(await sandbox.run({ code: "", session: "a" })));
    expect(new Set(values).size).toBe(1);
    expect(values).not.toContain(valueOf(await sandbox.run({ code: "", session: "b" })));
    expect(values).not.toContain(valueOf(await sandbox.run({ code: "" })));
  });

  it("takes runs that name no session as runs of the default session", async () => {
    const sandbox = open(DONE, { reuse: "session", defaultSession: "agent" });
    const first = valueOf(await sandbox.run({ code: "" }));
    expect(valueOf(await sandbox.run({ code: "", session: undefined }))).toBe(first);
    expect(valueOf(await sandbox.run({ code: "", session: "agent" }))).toBe(first);
    expect(valueOf(await sandbox.run({ code: "", session: "other" }))).not.toBe(first);
    expect(sandbox.stats()).toMatchObject({ reused: 2, running: 0, queued: 0 });
  });

  it("keeps no guest for the default session where guests are not reused", async () => {
    const sandbox = open(DONE, { defaultSession: "agent" });
    const first = valueOf(await sandbox.run({ code: "" }));
    expect(valueOf(await sandbox.run({ code: "" }))).not.toBe(first);
    expect(sandbox.stats()).toMatchObject({ reused: 0, kept: 0 });
  });

  it("drains: runs under way end by themselves, new ones don't start, nothing is left", async () => {
    const sandbox = open(`setTimeout(() => { ${DONE} }, 200);`, { gate: new FairGate(1) });
    const runs = [sandbox.run({ code: "" }), sandbox.run({ code: "" })];
    await expect.poll(() => sandbox.stats().running).toBe(1);
    const drained = sandbox.drain();
    expect(await sandbox.run({ code: "" })).toMatchObject({ status: "killed", reason: "disposed" });
    await drained;
    for (const outcome of await Promise.all(runs)) expect(outcome.status).toBe("completed");
    expect(sandbox.stats()).toMatchObject({ standby: 0, taken: 0, running: 0, queued: 0 });
  });
});
