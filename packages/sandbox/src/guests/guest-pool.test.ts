import { CemError, type RunOutcome } from "@cem/core";
import { afterEach, describe, expect, it, vi } from "vitest";
import { FairGate } from "@cem/core";
import { createGuestPool } from "./guest-pool.ts";
import { createGuestSandbox, type GuestSandbox, type GuestSandboxSettings } from "./guest-sandbox.ts";
import { ScriptedGuest, type GuestScript } from "../testing/scripted-guest.ts";

const isolation = { level: "permissions", sandbox: "scripted", mechanisms: ["none"] } as const;
const done: GuestScript = (guest) => guest.send({ type: "done", value: guest.id });
const IDLE_MS = 1_000;

describe("a pool of guests", () => {
  it("refills before a take where a refill is due and no guest is ready", async () => {
    const pool = createGuestPool({ start: () => new ScriptedGuest(done), standby: 1, idleMs: IDLE_MS });
    pool.refillSoon();
    const { connected, release } = await pool.acquire();
    expect(pool.stats()).toMatchObject({ hits: 1, misses: 0, started: 1, taken: 1 });
    expect([connected.guest.alive, release]).toEqual([true, undefined]);
    await pool.dispose();
    expect(connected.guest.alive).toBe(false);
    await expect(pool.acquire()).rejects.toMatchObject({ code: "SANDBOX_DISPOSED" });
  });
});

describe("the guest pool of a sandbox", () => {
  const made: GuestSandbox[] = [];
  const guests: ScriptedGuest[] = [];
  afterEach(async () => {
    vi.restoreAllMocks();
    vi.useRealTimers();
    await Promise.all(made.splice(0).map((sandbox) => sandbox.dispose()));
    guests.length = 0;
  });

  const open = (
    onRun: GuestScript,
    more: Partial<GuestSandboxSettings> = {},
    { onPing }: { onPing?: GuestScript } = {},
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
  /** Moves the clock by which guests age. */
  const age = (ms: number) => {
    vi.restoreAllMocks();
    const now = performance.now.bind(performance);
    vi.spyOn(performance, "now").mockImplementation(() => now() + ms);
  };
  /** Waits without timers, which a test may have replaced. */
  const until = async (condition: () => boolean) => {
    while (!condition()) await new Promise((resolve) => setImmediate(resolve));
  };

  describe("standby", () => {
    it("serves a run with a ready guest, kills it, and starts the next one after the run", async () => {
      const sandbox = open(done);
      const [first] = guests;
      await expect.poll(() => first?.referenced).toBe(false);
      expect(await run(sandbox)).toBe(first?.id);
      expect([first?.alive, first?.referenced]).toEqual([false, true]);
      await expect.poll(() => guests.length).toBe(2);
      expect(sandbox.stats()).toEqual({
        standby: 1,
        kept: 0,
        taken: 0,
        started: 2,
        hits: 1,
        reused: 0,
        misses: 0,
        lost: 0,
        discarded: 0,
        running: 0,
        waiting: 0,
      });
    });

    it("keeps two guests ready by default, and none where none is wanted", async () => {
      open(done, { standby: undefined });
      await expect.poll(() => guests.length).toBe(2);
      const none = open(done, { standby: 0 });
      expect(none.stats()).toMatchObject({ standby: 0 });
      await run(none);
      expect(none.stats()).toMatchObject({ hits: 0, misses: 1 });
    });

    it("counts a running guest as taken", async () => {
      const sandbox = open(() => {});
      const abort = new AbortController();
      const running = sandbox.run({ code: "", signal: abort.signal });
      await expect.poll(() => sandbox.stats().running).toBe(1);
      await expect.poll(() => sandbox.stats().taken).toBe(1);
      abort.abort();
      await running;
      await expect.poll(() => sandbox.stats().taken).toBe(0);
    });

    it("uses a guest that was booted elsewhere first", async () => {
      const { connectGuest } = await import("./connected-guest.ts");
      const elsewhere = new ScriptedGuest(done);
      const sandbox = open(done, { firstGuest: await connectGuest(elsewhere) });
      expect(sandbox.stats()).toMatchObject({ standby: 1, started: 1 });
      expect(await run(sandbox)).toBe(elsewhere.id);
    });

    it("grows by one with each run that finds none, up to four times its size", async () => {
      const sandbox = open(done, { reuse: "none" });
      await Promise.all(Array.from({ length: 12 }, () => run(sandbox)));
      await expect.poll(() => sandbox.stats().standby).toBe(4);
    });

    it("grows up to the bound that is set, and shrinks when nothing runs for the idle time", async () => {
      const sandbox = open(done, { maxStandby: 3, idleMs: IDLE_MS });
      vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
      await Promise.all(Array.from({ length: 12 }, () => run(sandbox)));
      await until(() => sandbox.stats().standby === 3);
      vi.advanceTimersByTime(IDLE_MS - 1);
      expect(sandbox.stats().standby).toBe(3);
      vi.advanceTimersByTime(1);
      expect(sandbox.stats().standby).toBe(0);
      await run(sandbox);
      await until(() => sandbox.stats().standby === 2);
    });
  });

  describe("health checks", () => {
    it("pings a guest that has been idle for ten seconds, and no younger one", async () => {
      let pings = 0;
      const onPing: GuestScript = (guest) => {
        pings += 1;
        guest.send({ type: "ready", version: "1" });
      };
      const sandbox = open(done, {}, { onPing });
      age(9_000);
      expect(await run(sandbox)).toBe(guests[0]?.id);
      expect(pings).toBe(0);
      await expect.poll(() => sandbox.stats().standby).toBe(1);
      age(20_000);
      expect(await run(sandbox)).toBe(guests[1]?.id);
      expect(pings).toBe(1);
      expect(sandbox.stats()).toMatchObject({ hits: 2, lost: 0 });
    });

    it.each<[string, GuestScript]>([
      ["with another message", (guest) => guest.send({ type: "done", value: 1 })],
      ["with a malformed one", (guest) => guest.frame("{")],
      ["with nothing", () => {}],
      ["by exiting", (guest) => guest.exit({ code: 0 })],
    ])("replaces a guest that answers %s", async (_, onPing) => {
      const sandbox = open(done, { healthTimeoutMs: 20 }, { onPing });
      age(20_000);
      expect(await run(sandbox)).toBe(guests[1]?.id);
      expect(guests[0]?.alive).toBe(false);
      expect(sandbox.stats()).toMatchObject({ hits: 0, misses: 1, lost: 1 });
    });

    it("replaces a guest that exited while idle", async () => {
      const sandbox = open(done);
      await expect.poll(() => guests.length).toBe(1);
      guests[0]?.exit({ code: 1 });
      await guests[0]?.exited;
      expect(await run(sandbox)).toBe(guests[1]?.id);
      expect(sandbox.stats()).toMatchObject({ hits: 0, misses: 1, lost: 1 });
    });
  });

  describe("starts", () => {
    const failing = (times: number, code = "GUEST_START_FAILED") => {
      let left = times;
      const startGuest = async () => {
        left -= 1;
        if (left >= 0) throw new CemError(code, "It did not boot.");
        return new ScriptedGuest(done);
      };
      return open(done, { standby: 0, startGuest });
    };

    it("retries once", async () => {
      const sandbox = failing(1);
      expect(await run(sandbox)).toEqual(expect.any(Number));
      expect(sandbox.stats()).toMatchObject({ started: 1, lost: 1, misses: 1 });
    });

    it("fails the run after the second failure", async () => {
      expect(await run(failing(2))).toMatchObject({
        status: "killed",
        reason: "crashed",
        message: "It did not boot.",
      });
    });

    it("doesn't retry another kind of failure", async () => {
      expect(await run(failing(1, "SANDBOX_UNAVAILABLE"))).toMatchObject({ message: "It did not boot." });
    });

    it("fails when a guest is not ready in time, and kills it", async () => {
      class SilentGuest extends ScriptedGuest {
        override send(): void {}
      }
      const started: SilentGuest[] = [];
      const startGuest = () => {
        started.push(new SilentGuest(done));
        return started.at(-1) as SilentGuest;
      };
      const sandbox = open(done, { standby: 0, startTimeoutMs: 5, startGuest });
      expect(await run(sandbox)).toMatchObject({ message: "The guest was not ready within 5 ms." });
      expect(started.map(({ alive }) => alive)).toEqual([false, false]);
    });
  });

  describe("sessions", () => {
    it("gives the runs of a session the same guest, and to no other run", async () => {
      const sandbox = open(done, { reuse: "session" });
      const values = [await run(sandbox, "a"), await run(sandbox, "a"), await run(sandbox, "a")];
      expect(new Set(values).size).toBe(1);
      expect(values).not.toContain(await run(sandbox, "b"));
      expect(values).not.toContain(await run(sandbox));
      await expect.poll(() => sandbox.stats().taken).toBe(0);
      expect(sandbox.stats()).toMatchObject({ reused: 2, kept: 2, discarded: 0 });
    });

    it("gives runs of a session that may call other tools a guest of their own", async () => {
      const sandbox = open(done, { reuse: "session" });
      const runAs = async (allowedTools?: readonly string[]) =>
        valueOf(await sandbox.run({ code: "", session: "a", allowedTools }));
      const [all, few, same, none] = [
        await runAs(),
        await runAs(["b.*", "a.*"]),
        await runAs(["a.*", "b.*"]),
        await runAs([]),
      ];
      expect(same).toBe(few);
      expect(new Set([all, few, none]).size).toBe(3);
      expect(await runAs()).toBe(all);
      await expect.poll(() => sandbox.stats().kept).toBe(3);
      sandbox.endSession?.("a");
      expect(sandbox.stats().kept).toBe(0);
    });

    it("gives a guest to a run that follows at once", async () => {
      const sandbox = open(done, { reuse: "session" });
      const first = await run(sandbox, "a");
      expect(sandbox.stats().kept).toBe(1);
      expect(await run(sandbox, "a")).toBe(first);
    });

    it("replaces a kept guest that exited while idle", async () => {
      const sandbox = open(done, { reuse: "session" });
      const first = await run(sandbox, "a");
      await expect.poll(() => sandbox.stats().kept).toBe(1);
      const kept = guests.find(({ id }) => id === first);
      expect(kept?.referenced).toBe(false);
      kept?.exit({ code: 1 });
      await kept?.exited;
      expect(await run(sandbox, "a")).not.toBe(first);
      expect(sandbox.stats()).toMatchObject({ reused: 0, lost: 1 });
    });

    it.each([
      ["prints", (guest: ScriptedGuest) => guest.raw("late")],
      ["sends a message", (guest: ScriptedGuest) => guest.send({ type: "done", value: 1 })],
    ])("ends a kept guest that %s between runs", async (_, act) => {
      const sandbox = open(done, { reuse: "session" });
      const first = await run(sandbox, "a");
      await expect.poll(() => sandbox.stats().kept).toBe(1);
      const kept = guests.find(({ id }) => id === first) as ScriptedGuest;
      act(kept);
      await expect.poll(() => kept.alive).toBe(false);
      expect(await run(sandbox, "a")).not.toBe(first);
    });

    it("discards a guest after a thousand runs", async () => {
      const sandbox = open(done, { reuse: "session" });
      const first = await run(sandbox, "a");
      for (let count = 1; count < 1_000; count += 1) {
        expect(await run(sandbox, "a")).toBe(first);
      }
      expect(await run(sandbox, "a")).not.toBe(first);
      expect(sandbox.stats()).toMatchObject({ discarded: 1 });
    });

    it("discards the guest of a run that was ended from outside", async () => {
      const sandbox = open(() => {}, { reuse: "session" });
      const abort = new AbortController();
      const running = sandbox.run({ code: "", session: "a", signal: abort.signal });
      await expect.poll(() => sandbox.stats().taken).toBe(1);
      abort.abort();
      await running;
      expect(sandbox.stats()).toMatchObject({ kept: 0 });
      expect(guests[0]?.alive).toBe(false);
    });

    it("kills kept guests after the idle time", async () => {
      const sandbox = open(done, { reuse: "session", idleMs: IDLE_MS });
      vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
      const first = await run(sandbox, "a");
      await until(() => sandbox.stats().kept === 1);
      vi.advanceTimersByTime(IDLE_MS);
      expect(guests.find(({ id }) => id === first)?.alive).toBe(false);
      expect(sandbox.stats()).toMatchObject({ kept: 0 });
    });

    it("takes runs that name no session as runs of the default session", async () => {
      const sandbox = open(done, { reuse: "session", defaultSession: "agent" });
      const first = await run(sandbox);
      for (const session of [undefined, "agent"]) {
        await until(() => sandbox.stats().kept === 1);
        expect(await run(sandbox, session)).toBe(first);
      }
      expect(await run(sandbox, "other")).not.toBe(first);
      expect(sandbox.stats()).toMatchObject({ reused: 2, running: 0, waiting: 0 });
    });

    it("keeps no guest where guests are not reused", async () => {
      const sandbox = open(done, { reuse: "none", defaultSession: "agent" });
      expect(await run(sandbox, "a")).not.toBe(await run(sandbox, "a"));
      expect(sandbox.stats()).toMatchObject({ reused: 0, kept: 0 });
    });
  });
});
