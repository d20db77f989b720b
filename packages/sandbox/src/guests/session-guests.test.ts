import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { attachTo } from "./connected-guest.ts";
import { shouldRetire, type SessionGuest } from "./eviction.ts";
import type { GuestUsage } from "./guest.ts";
import { createSessionGuests, type SessionGuests } from "./session-guests.ts";
import { ScriptedGuest } from "../testing/scripted-guest.ts";

const MIB = 1024 * 1024;

/** Has a session take a guest that it has not had before. */
async function start(guests: SessionGuests, session: string, usage?: () => Partial<GuestUsage>) {
  const guest = await guests.acquire(session);
  expect(guest.connected).toBeUndefined();
  guest.connected = attachTo(new ScriptedGuest(() => {}));
  Object.assign(guest.connected.guest, { usage });
  return guest;
}

/** Has sessions take guests of this size, side by side, and give them back. */
async function keepAll(guests: SessionGuests, names: readonly string[], memoryBytes = 0) {
  const started: SessionGuest[] = [];
  for (const session of names) started.push(await start(guests, session, () => ({ memoryBytes })));
  for (const guest of started) guests.release(guest);
  return started;
}

const statesOf = (guests: readonly SessionGuest[]) => guests.map(({ state }) => state);
const endedOf = (guests: readonly SessionGuest[]) =>
  guests.filter(({ state, connected }) => {
    expect(connected?.guest.alive).toBe(state !== "ended");
    return state === "ended";
  });

describe("SessionGuests", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("ends a session's guests: those that are idle, and those of its last runs when they come back", async () => {
    const guests = createSessionGuests(undefined, 2);
    const [idle, other] = (await keepAll(guests, ["a", "b"])) as [SessionGuest, SessionGuest];
    expect(await guests.acquire("a")).toBe(idle);
    const late = await start(guests, "a");
    expect(guests.release(idle)).toBe(0);
    guests.endSession("a");
    expect(statesOf([idle, late, other])).toEqual(["ended", "running", "idle"]);
    expect(guests.release(late)).toBe(1);
    expect(endedOf([idle, late, other])).toEqual([idle, late]);
    expect([guests.idle, guests.serving]).toEqual([1, 1]);
    guests.endSession("c");
    expect(guests.idle).toBe(1);
  });

  describe("acquire", () => {
    it("gives the guest of a session that was kept last, once", async () => {
      const guests = createSessionGuests(undefined, 2);
      const [first, second, other] = await keepAll(guests, ["a", "a", "b"]);
      expect(guests.idle).toBe(3);
      expect(await guests.acquire("a")).toBe(second);
      expect(await guests.acquire("a")).toBe(first);
      expect(await guests.acquire("b")).toBe(other);
      expect(guests.idle).toBe(0);
    });

    it("gives a new one to a session without guests", async () => {
      const guests = createSessionGuests(undefined, 2);
      await keepAll(guests, ["a"]);
      expect((await guests.acquire("b")).connected).toBeUndefined();
    });

    it("gives a new one while there are fewer guests than processors", async () => {
      const guests = createSessionGuests(undefined, 2);
      void guests.acquire("a");
      expect((await guests.acquire("a")).connected).toBeUndefined();
    });

    it("waits for busy guests, and gives them to who waits longest", async () => {
      const guests = createSessionGuests(undefined, 2);
      const [one, two] = [await start(guests, "a"), await start(guests, "a")];
      const first = guests.acquire("a");
      const second = guests.acquire("a");
      for (const back of [one, two]) expect(guests.release(back)).toBe(0);
      expect(await first).toBe(one);
      expect(await second).toBe(two);
      expect(guests.idle).toBe(0);
    });

    it("waits as long as guests come back, and no longer", async () => {
      const guests = createSessionGuests(undefined, 1);
      const back = await start(guests, "a");
      const waiting = ["first", "second", "third"].map(() => guests.acquire("a"));
      for (const acquired of waiting.slice(0, 2)) {
        vi.advanceTimersByTime(9);
        guests.release(back);
        expect(await acquired).toBe(back);
      }
      vi.advanceTimersByTime(10);
      expect((await waiting[2])?.connected).toBeUndefined();
      expect(guests.serving).toBe(2);
    });
  });

  it("lets nobody wait for guests that have ended, and forgets their session", async () => {
    const guests = createSessionGuests(undefined, 1);
    const first = await start(guests, "a");
    const waiting = guests.acquire("a");
    guests.end(first);
    const second = await waiting;
    expect(second).not.toBe(first);
    for (const guest of [first, second, first]) guests.end(guest);
    expect(guests.serving).toBe(0);
    expect(guests.release(second)).toBe(0);
    expect(guests.idle).toBe(0);
  });

  it("keeps sixteen guests, and evicts another beyond", async () => {
    const guests = createSessionGuests(undefined, 2);
    const kept = await keepAll(
      guests,
      Array.from({ length: 16 }, (_, index) => `s${index}`),
    );
    expect(endedOf(kept)).toEqual([]);
    const all = [...kept, ...(await keepAll(guests, ["last"]))];
    const [evicted, ...more] = endedOf(all);
    expect(more).toEqual([]);
    expect(guests.idle).toBe(16);
    await start(guests, evicted?.session ?? "");
  });

  it("finds guests for many sessions that run by turns, though there are more than it keeps", async () => {
    const guests = createSessionGuests(undefined, 2);
    let found = 0;
    for (let turn = 0; turn < 400; turn += 1) {
      const guest = await guests.acquire(`s${turn % 20}`);
      found += Number(guest.runs > 0);
      guests.release(guest);
    }
    expect(found).toBeGreaterThan(100);
  });

  it("keeps as many as it is told, and 32 MiB for each", async () => {
    const guests = createSessionGuests(2, 2);
    const kept = await keepAll(guests, ["a", "b"], 32 * MIB);
    expect(endedOf(kept)).toEqual([]);
    expect(endedOf([...kept, ...(await keepAll(guests, ["c"], 32 * MIB))])).toHaveLength(1);
    guests.clear();
    expect(endedOf(await keepAll(guests, ["d"], 65 * MIB))).toHaveLength(1);
  });

  it("keeps 512 MiB, and evicts as many as needed", async () => {
    const guests = createSessionGuests(undefined, 2);
    const kept = await keepAll(guests, ["a", "b", "c", "d"], 128 * MIB);
    expect(endedOf(kept)).toEqual([]);
    expect(endedOf([...kept, ...(await keepAll(guests, ["more"], 129 * MIB))])).not.toEqual([]);
    expect(guests.idle).toBeGreaterThan(2);
  });

  describe("release", () => {
    it("ends a guest after its thousandth run", () => {
      expect(shouldRetire({ runs: 999, memoryBytes: 0 })).toBe(false);
      expect(shouldRetire({ runs: 1_000, memoryBytes: 0 })).toBe(true);
    });

    it("ends a guest that has grown, measured every fiftieth run", async () => {
      const guests = createSessionGuests(undefined, 2);
      let memoryBytes = 160 * MIB;
      const grown = await start(guests, "a", () => ({ memoryBytes }));
      expect(guests.release(grown)).toBe(0);
      memoryBytes += MIB;
      for (let run = 1; run < 50; run += 1) {
        expect(guests.release(await guests.acquire("a"))).toBe(0);
      }
      expect(await guests.acquire("a")).toBe(grown);
      expect(guests.release(grown)).toBe(1);
      expect(endedOf([grown])).toEqual([grown]);
    });
  });

  describe("sweep", () => {
    const idle: GuestUsage = { memoryBytes: 60 * MIB, processorMs: 900, writtenBytes: 5 * MIB };
    const swept = async (later: Partial<GuestUsage>): Promise<number> => {
      const guests = createSessionGuests(undefined, 2);
      let usage = idle;
      guests.release(await start(guests, "a", () => usage));
      expect(guests.sweep(1_000)).toBe(0);
      usage = { ...idle, ...later };
      const ended = guests.sweep(1_000);
      expect(guests.idle).toBe(1 - ended);
      return ended;
    };

    it("ends a guest that was idle for as long as it may be", async () => {
      const guests = createSessionGuests(undefined, 2);
      const [first] = await keepAll(guests, ["a"]);
      vi.advanceTimersByTime(600);
      const [second] = await keepAll(guests, ["b"]);
      vi.advanceTimersByTime(400);
      expect(guests.sweep(1_000)).toBe(1);
      expect([first?.state, second?.state, guests.idle]).toEqual(["ended", "idle", 1]);
    });

    it.each([
      [16, ["ended", "ended", "idle", "idle"]],
      [17, ["idle", "idle", "idle", "idle"]],
    ])("ends all but two that ran last after ten seconds, where %d may be kept", async (kept, states) => {
      const guests = createSessionGuests(kept, 2);
      const all = await keepAll(guests, ["a", "b", "c", "d"]);
      vi.advanceTimersByTime(9_999);
      expect(guests.sweep(60_000)).toBe(0);
      vi.advanceTimersByTime(1);
      guests.sweep(60_000);
      expect(statesOf(all)).toEqual(states);
      expect(guests.sweep(60_000)).toBe(0);
    });

    it("ends a guest that works, writes or grows while it runs no program", async () => {
      expect(await swept({ processorMs: 1_151 })).toBe(1);
      expect(await swept({ writtenBytes: 5 * MIB + 64 * 1024 + 1 })).toBe(1);
      expect(await swept({ memoryBytes: 93 * MIB })).toBe(1);
    });

    it("leaves a guest that collects its garbage, or that can't be measured", async () => {
      const little = { processorMs: 1_150, writtenBytes: 5 * MIB + 64 * 1024, memoryBytes: 30 * MIB };
      expect(await swept(little)).toBe(0);
      const guests = createSessionGuests(undefined, 2);
      guests.release(await start(guests, "a"));
      expect([guests.sweep(1_000), guests.sweep(1_000)]).toEqual([0, 0]);
    });
  });

  it("ends all on clear", async () => {
    const guests = createSessionGuests(undefined, 2);
    const kept = await keepAll(guests, ["a", "b"]);
    guests.clear();
    expect(endedOf(kept)).toEqual(kept);
    expect(guests.idle).toBe(0);
    await start(guests, "a");
  });
});
