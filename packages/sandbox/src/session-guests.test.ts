import { describe, expect, it } from "vitest";
import { ConnectedGuest } from "./connected-guest.ts";
import { SessionGuests, type SessionLease } from "./session-guests.ts";
import { ScriptedGuest } from "./testing.ts";

const lease = (session: string | undefined, runs = 0): SessionLease => ({
  session,
  connected: new ConnectedGuest(new ScriptedGuest(() => {})),
  runs,
});
const keepAll = (guests: SessionGuests, leases: readonly SessionLease[]) =>
  Promise.all(leases.map((one) => guests.keep(one.session, Promise.resolve(one))));

describe("SessionGuests", () => {
  describe("take", () => {
    it("gives the guest of a session that was kept last, once", async () => {
      const guests = new SessionGuests();
      const [first, second, other] = [lease("a"), lease("a"), lease("b")];
      await keepAll(guests, [first, second, other]);
      expect(guests.size).toBe(3);
      expect(await guests.take("a")).toBe(second);
      expect(await guests.take("a")).toBe(first);
      expect(await guests.take("a")).toBeUndefined();
      expect(guests.size).toBe(1);
      expect(await guests.take("b")).toBe(other);
    });

    it("waits for a guest in its health check, which is not kept then", async () => {
      const guests = new SessionGuests();
      const check = Promise.withResolvers<SessionLease | undefined>();
      const other = guests.keep("b", new Promise(() => {}));
      const kept = guests.keep("a", check.promise);
      const taken = guests.take("a");
      const one = lease("a");
      check.resolve(one);
      expect(await taken).toBe(one);
      expect(await kept).toBeUndefined();
      expect(guests.size).toBe(0);
      expect(await guests.take("a")).toBeUndefined();
      void other;
    });

    it("gives nothing for a guest that failed its health check", async () => {
      const guests = new SessionGuests();
      const check = Promise.withResolvers<SessionLease | undefined>();
      const kept = guests.keep("a", check.promise);
      const taken = guests.take("a");
      check.resolve(undefined);
      expect(await taken).toBeUndefined();
      expect(await kept).toBeUndefined();
      await guests.keep("a", Promise.resolve(undefined));
      expect(guests.size).toBe(0);
    });
  });

  it("keeps sixteen guests, and evicts the one that has been idle longest", async () => {
    const guests = new SessionGuests();
    const leases = Array.from({ length: 16 }, (_, index) => lease(`s${index}`));
    expect(await keepAll(guests, leases)).toEqual(leases.map(() => undefined));
    expect(await guests.keep("last", Promise.resolve(lease("last")))).toBe(leases[0]);
    expect(guests.size).toBe(16);
    expect(await guests.take("s0")).toBeUndefined();
  });

  it("counts a guest as spent with its hundredth run", () => {
    const guests = new SessionGuests();
    expect(guests.isSpent(lease("a", 98))).toBe(false);
    expect(guests.isSpent(lease("a", 99))).toBe(true);
  });

  it("gives all on clear", async () => {
    const guests = new SessionGuests();
    const leases = [lease("a"), lease("b")];
    await keepAll(guests, leases);
    expect(guests.clear()).toEqual(leases);
    expect(guests.size).toBe(0);
  });
});
