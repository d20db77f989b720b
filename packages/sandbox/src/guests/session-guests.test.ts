import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { attachTo } from "./connected-guest.ts";
import type { GuestUsage } from "./guest.ts";
import { createSessionGuests, type SessionGuests, type SessionLease } from "./session-guests.ts";
import { ScriptedGuest } from "../testing/scripted-guest.ts";

type Kept = SessionLease & { session: string };

const MIB = 1024 * 1024;

function lease(session: string, more: Partial<SessionLease> = {}): Kept {
  const connected = attachTo(new ScriptedGuest(() => {}));
  return { connected, runs: 0, memoryBytes: 0, ...more, session };
}

/** Lets the guests serve their sessions once, side by side, and takes them back. */
async function keepAll(guests: SessionGuests, leases: readonly Kept[]): Promise<SessionLease[]> {
  for (const { session } of leases) expect(await guests.take(session)).toBeUndefined();
  return leases.flatMap((one) => {
    return guests.keep(one);
  });
}

describe("SessionGuests", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("ends a session's guests: those that are idle, and those of its last runs when they come back", async () => {
    const guests = createSessionGuests(undefined, 2);
    const [idle, late, other] = [lease("a"), lease("a"), lease("b")];
    await keepAll(guests, [idle, other]);
    expect(await guests.take("a")).toBe(idle);
    expect(await guests.take("a")).toBeUndefined();
    expect(guests.keep(idle)).toEqual([]);
    expect(guests.end("a")).toEqual([idle]);
    expect(guests.keep(late)).toEqual([late]);
    expect([guests.size, guests.serving]).toEqual([1, 1]);
    expect(guests.end("c")).toEqual([]);
  });

  describe("take", () => {
    it("gives the guest of a session that was kept last, once", async () => {
      const guests = createSessionGuests(undefined, 2);
      const [first, second, other] = [lease("a"), lease("a"), lease("b")];
      expect(await keepAll(guests, [first, second, other])).toEqual([]);
      expect(guests.size).toBe(3);
      expect(await guests.take("a")).toBe(second);
      expect(await guests.take("a")).toBe(first);
      expect(await guests.take("b")).toBe(other);
      expect(guests.size).toBe(0);
    });

    it("gives nothing to a session without guests", async () => {
      const guests = createSessionGuests(undefined, 2);
      await keepAll(guests, [lease("a")]);
      expect(await guests.take("b")).toBeUndefined();
    });

    it("gives nothing while there are fewer guests than processors", async () => {
      const guests = createSessionGuests(undefined, 2);
      void guests.take("a");
      expect(await guests.take("a")).toBeUndefined();
    });

    it("waits for busy guests, and gives them to who waits longest", async () => {
      const guests = createSessionGuests(undefined, 2);
      const [one, two] = [lease("a"), lease("a")];
      void guests.take("a");
      void guests.take("a");
      const first = guests.take("a");
      const second = guests.take("a");
      for (const back of [one, two]) {
        expect(guests.keep(back)).toEqual([]);
      }
      expect(await first).toBe(one);
      expect(await second).toBe(two);
      expect(guests.size).toBe(0);
    });

    it("waits as long as guests come back, and no longer", async () => {
      const guests = createSessionGuests(undefined, 1);
      void guests.take("a");
      const waiting = ["first", "second", "third"].map(() => guests.take("a"));
      for (const take of waiting.slice(0, 2)) {
        vi.advanceTimersByTime(9);
        const back = lease("a");
        guests.keep(back);
        expect(await take).toBe(back);
      }
      vi.advanceTimersByTime(10);
      expect(await waiting[2]).toBeUndefined();
    });
  });

  it("lets nobody wait for guests that have ended, and forgets their session", async () => {
    const guests = createSessionGuests(undefined, 1);
    void guests.take("a");
    const waiting = guests.take("a");
    guests.remove("a");
    expect(await waiting).toBeUndefined();
    guests.remove("a");
    expect(guests.serving).toBe(0);
    const late = lease("a");
    expect(guests.keep(late)).toEqual([late]);
  });

  it("keeps sixteen guests, and evicts another beyond", async () => {
    const guests = createSessionGuests(undefined, 2);
    const leases = Array.from({ length: 16 }, (_, index) => lease(`s${index}`));
    expect(await keepAll(guests, leases)).toEqual([]);
    const [evicted, ...more] = await keepAll(guests, [lease("last")]);
    expect(more).toEqual([]);
    expect(guests.size).toBe(16);
    expect(await guests.take(evicted?.session ?? "")).toBeUndefined();
  });

  it("finds guests for many sessions that run by turns, though there are more than it keeps", async () => {
    const guests = createSessionGuests(undefined, 2);
    let found = 0;
    for (let turn = 0; turn < 400; turn += 1) {
      const session = `s${turn % 20}`;
      const known = await guests.take(session);
      found += Number(known !== undefined);
      guests.keep({ ...(known ?? lease(session)), session });
    }
    expect(found).toBeGreaterThan(100);
  });

  it("keeps as many as it is told, and 32 MiB for each", async () => {
    const guests = createSessionGuests(2, 2);
    const leases = [lease("a", { memoryBytes: 32 * MIB }), lease("b", { memoryBytes: 32 * MIB })];
    expect(await keepAll(guests, leases)).toEqual([]);
    expect(await keepAll(guests, [lease("c", { memoryBytes: 32 * MIB })])).toHaveLength(1);
    guests.clear();
    expect(await keepAll(guests, [lease("d", { memoryBytes: 65 * MIB })])).toHaveLength(1);
  });

  it("keeps 512 MiB, and evicts as many as needed", async () => {
    const guests = createSessionGuests(undefined, 2);
    const leases = Array.from({ length: 4 }, (_, index) => lease(`s${index}`, { memoryBytes: 128 * MIB }));
    expect(await keepAll(guests, leases)).toEqual([]);
    expect(await keepAll(guests, [lease("more", { memoryBytes: 129 * MIB })])).not.toEqual([]);
    expect(guests.size).toBeGreaterThan(2);
  });

  describe("isSpent", () => {
    it("counts a guest as spent with its thousandth run", () => {
      const guests = createSessionGuests(undefined, 2);
      expect(guests.isSpent(lease("a", { runs: 998 }))).toBe(false);
      expect(guests.isSpent(lease("a", { runs: 999 }))).toBe(true);
    });

    it("counts a guest as spent that has grown, measured every fiftieth run", () => {
      const guests = createSessionGuests(undefined, 2);
      const usage = (): GuestUsage => ({ memoryBytes: 161 * MIB, processorMs: 0, writtenBytes: 0 });
      const grown = lease("a", { runs: 49 });
      Object.assign(grown.connected.guest, { usage });
      expect(guests.isSpent(grown)).toBe(false);
      grown.runs = 50;
      expect(guests.isSpent(grown)).toBe(true);
      expect(grown.memoryBytes).toBe(161 * MIB);
    });
  });

  describe("look", () => {
    const idle: GuestUsage = { memoryBytes: 60 * MIB, processorMs: 900, writtenBytes: 5 * MIB };
    const looked = async (later: Partial<GuestUsage>): Promise<number> => {
      const guests = createSessionGuests(undefined, 2);
      const one = lease("a");
      let usage = idle;
      Object.assign(one.connected.guest, { usage: () => usage });
      await keepAll(guests, [one]);
      expect(guests.look(1_000)).toEqual([]);
      usage = { ...idle, ...later };
      const ended = guests.look(1_000);
      expect(guests.size).toBe(1 - ended.length);
      return ended.length;
    };

    it("ends a guest that was idle for as long as it may be", async () => {
      const guests = createSessionGuests(undefined, 2);
      const [first, second] = [lease("a"), lease("b")];
      await keepAll(guests, [first]);
      vi.advanceTimersByTime(600);
      await keepAll(guests, [second]);
      vi.advanceTimersByTime(400);
      expect(guests.look(1_000)).toEqual([first]);
      expect([guests.size, await guests.take("a")]).toEqual([1, undefined]);
    });

    it.each([
      [16, ["a", "b"]],
      [17, []],
    ])("ends all but two that ran last after ten seconds, where %d may be kept", async (kept, sessions) => {
      const guests = createSessionGuests(kept, 2);
      await keepAll(
        guests,
        ["a", "b", "c", "d"].map((session) => lease(session)),
      );
      vi.advanceTimersByTime(9_999);
      expect(guests.look(60_000)).toEqual([]);
      vi.advanceTimersByTime(1);
      expect(guests.look(60_000).map(({ session }) => session)).toEqual(sessions);
      expect(guests.look(60_000)).toEqual([]);
    });

    it("ends a guest that works, writes or grows while it runs no program", async () => {
      expect(await looked({ processorMs: 1_151 })).toBe(1);
      expect(await looked({ writtenBytes: 5 * MIB + 64 * 1024 + 1 })).toBe(1);
      expect(await looked({ memoryBytes: 93 * MIB })).toBe(1);
    });

    it("leaves a guest that collects its garbage, or that can't be measured", async () => {
      const little = { processorMs: 1_150, writtenBytes: 5 * MIB + 64 * 1024, memoryBytes: 30 * MIB };
      expect(await looked(little)).toBe(0);
      const guests = createSessionGuests(undefined, 2);
      await keepAll(guests, [lease("a")]);
      expect([...guests.look(1_000), ...guests.look(1_000)]).toEqual([]);
    });
  });

  it("gives all on clear", async () => {
    const guests = createSessionGuests(undefined, 2);
    const leases = [lease("a"), lease("b")];
    await keepAll(guests, leases);
    expect(guests.clear()).toEqual(leases);
    expect(guests.size).toBe(0);
    expect(await guests.take("a")).toBeUndefined();
  });
});
