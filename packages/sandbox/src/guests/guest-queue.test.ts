import type { RunOutcome } from "@cem/core";
import { afterEach, describe, expect, it } from "vitest";
import { FairGate } from "@cem/core";
import { createGuestSandbox, type GuestSandbox, type GuestSandboxSettings } from "./guest-sandbox.ts";
import { ScriptedGuest, type GuestScript } from "../testing/scripted-guest.ts";

const isolation = { level: "permissions", sandbox: "scripted", mechanisms: ["none"] } as const;
const done: GuestScript = (guest) => guest.send({ type: "done", value: guest.id });

describe("the queue and the end of a sandbox", () => {
  const made: GuestSandbox[] = [];
  const guests: ScriptedGuest[] = [];
  afterEach(async () => {
    await Promise.all(made.splice(0).map((sandbox) => sandbox.dispose()));
    guests.length = 0;
  });

  const open = (
    onRun: GuestScript,
    more: Partial<GuestSandboxSettings> = {},
    onPing?: GuestScript,
  ): GuestSandbox => {
    const startGuest = () => {
      const guest = new ScriptedGuest(onRun, onPing);
      guests.push(guest);
      return guest;
    };
    const sandbox = createGuestSandbox({ isolation, gate: new FairGate(8), standby: 1, startGuest, ...more });
    made.push(sandbox);
    return sandbox;
  };
  const valueOf = (outcome: RunOutcome): unknown =>
    outcome.status === "completed" ? outcome.value : outcome;
  const run = async (sandbox: GuestSandbox, session?: string): Promise<unknown> =>
    valueOf(await sandbox.run({ code: "", session }));

  describe("the queue", () => {
    it("refuses a run that waited too long, with the number of others that wait", async () => {
      const sandbox = open(() => {}, { gate: new FairGate(1), queueTimeoutMs: 20 });
      const abort = new AbortController();
      const endless = sandbox.run({ code: "", signal: abort.signal });
      expect(await sandbox.run({ code: "" })).toMatchObject({
        status: "refused",
        code: "SANDBOX_BUSY",
        message: "No guest was free within 20 ms; 0 more runs wait.",
      });
      abort.abort();
      expect(await endless).toMatchObject({ status: "killed", reason: "aborted" });
    });

    it("ends a queued run that is aborted", async () => {
      const sandbox = open(() => {}, { gate: new FairGate(1), queueTimeoutMs: 60_000 });
      const endless = sandbox.run({ code: "" });
      await expect.poll(() => sandbox.stats().running).toBe(1);
      const abort = new AbortController();
      const queued = sandbox.run({ code: "", signal: abort.signal });
      await expect.poll(() => sandbox.stats().waiting).toBe(1);
      abort.abort();
      expect(await queued).toMatchObject({ status: "killed", reason: "aborted" });
      expect(sandbox.stats().waiting).toBe(0);
      await sandbox.dispose();
      expect(await endless).toMatchObject({ status: "killed", reason: "disposed" });
    });

    it("lets sessions take turns, however busy one is", async () => {
      const sandbox = open(done, { gate: new FairGate(1) });
      const order: string[] = [];
      const note = async (session: string) => {
        await sandbox.run({ code: "", session });
        order.push(session);
      };
      await Promise.all([...Array.from({ length: 6 }, () => note("busy")), note("calm")]);
      expect(order.indexOf("calm")).toBeLessThan(3);
    });
  });

  describe("drain", () => {
    it("lets running and queued runs end, refuses new ones, and disposes the sandbox", async () => {
      let finish = () => {};
      const script: GuestScript = (guest) => {
        finish = () => void done(guest, {} as never);
      };
      let cleaned = 0;
      const cleanUp = async () => void (cleaned += 1);
      const sandbox = open(script, { gate: new FairGate(1), cleanUp });
      const runs = [sandbox.run({ code: "" }), sandbox.run({ code: "" })];
      await expect.poll(() => sandbox.stats()).toMatchObject({ running: 1, waiting: 1, taken: 1 });
      const drained = sandbox.drain();
      expect(await sandbox.run({ code: "" })).toMatchObject({
        status: "killed",
        reason: "disposed",
        message: "The sandbox was disposed.",
      });
      expect(cleaned).toBe(0);
      const ticking = setInterval(() => finish(), 5);
      await drained;
      clearInterval(ticking);
      for (const outcome of await Promise.all(runs)) expect(outcome.status).toBe("completed");
      expect(sandbox.stats()).toMatchObject({ standby: 0, taken: 0, running: 0, waiting: 0 });
      expect(cleaned).toBe(1);
      expect(guests.every(({ alive }) => !alive)).toBe(true);
    });

    it("waits for a run where none is queued", async () => {
      let finish = () => {};
      const sandbox = open((guest) => {
        finish = () => void done(guest, {} as never);
      });
      const running = sandbox.run({ code: "" });
      await expect.poll(() => sandbox.stats().taken).toBe(1);
      const drained = sandbox.drain();
      await new Promise((resolve) => setImmediate(resolve));
      finish();
      expect((await running).status).toBe("completed");
      await drained;
    });

    it("resolves at once where nothing runs", async () => {
      const sandbox = open(done);
      await Promise.all([sandbox.drain(), sandbox.drain(), sandbox.dispose()]);
      expect(guests.every(({ alive }) => !alive)).toBe(true);
      expect(await run(sandbox)).toMatchObject({ status: "killed", reason: "disposed" });
    });
  });
});
