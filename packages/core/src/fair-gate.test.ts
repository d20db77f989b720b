import { describe, expect, it, vi } from "vitest";
import { FairGate } from "./fair-gate.ts";

describe("FairGate", () => {
  describe("enter", () => {
    it("admits as many as its capacity, and the others round-robin by key", async () => {
      const gate = new FairGate(1);
      const order: string[] = [];
      const first = await gate.enter({ session: "a" });
      const visits = ["a1", "a2", "a3", "b1", "c1"].map(async (name) => {
        const leave = await gate.enter({ session: name[0] });
        order.push(name);
        leave();
      });
      expect([gate.inside, gate.waiting]).toEqual([1, 5]);
      first();
      await Promise.all(visits);
      expect(order).toEqual(["a1", "b1", "c1", "a2", "a3"]);
      expect([gate.inside, gate.waiting]).toEqual([0, 0]);
    });

    it("lets owners take turns, and their sessions, and leaves a slot to whoever comes next", async () => {
      const gate = new FairGate(8);
      const order: string[] = [];
      const leaves: (() => void)[] = [];
      const visit = async (name: string): Promise<void> => {
        const leave = await gate.enter({ owner: name[0], session: name.slice(0, 2) });
        order.push(name);
        leaves.push(leave);
      };
      const all = ["ax1", "ax2", "ax3", "ax4", "ax5", "ax6", "ay1", "b1", "b2", "b3", "c1", "c2", "d1"].map(
        visit,
      );
      await vi.waitFor(() => expect(order).toEqual(["ax1", "ax2", "ax3", "ax4", "b1", "b2", "c1", "d1"]));
      for (let at = 0; at < all.length; at += 1) {
        await vi.waitFor(() => expect(leaves[at]).toBeDefined());
        leaves[at]?.();
      }
      await Promise.all(all);
      expect(order.slice(8).toSorted()).toEqual(["ax5", "ax6", "ay1", "b3", "c2"]);
      expect(order.indexOf("ay1")).toBeLessThan(order.indexOf("ax6"));
      expect([gate.inside, gate.waiting]).toEqual([0, 0]);
    });

    it("hands a freed slot on without exceeding the capacity", async () => {
      const gate = new FairGate(2);
      const leaves = [await gate.enter({ session: "a" }), await gate.enter({ session: "a" })];
      const third = gate.enter({ session: "b" });
      expect([gate.inside, gate.waiting]).toEqual([2, 1]);
      leaves[0]?.();
      const leave = await third;
      expect([gate.inside, gate.waiting]).toEqual([2, 0]);
      leave();
      leaves[1]?.();
      expect(gate.inside).toBe(0);
    });

    it("frees a slot once, however often it is left", async () => {
      const gate = new FairGate(2);
      const leave = await gate.enter({ session: "a" });
      await gate.enter({ session: "a" });
      leave();
      leave();
      expect(gate.inside).toBe(1);
    });

    it("replaces holders that wait, up to a number, and has them go on at once", async () => {
      const gate = new FairGate(1, 1);
      const first = await gate.enter({ session: "a" });
      first.setWaiting(true);
      first.setWaiting(true);
      const second = await gate.enter({ session: "b" });
      const third = gate.enter({ session: "c" });
      second.setWaiting(true);
      expect([gate.inside, gate.waiting, gate.unreplaced]).toEqual([2, 1, 1]);
      second.setWaiting(false);
      first.setWaiting(false);
      expect(gate.tryEnter({ session: "d" })).toBeUndefined();
      first.setWaiting(false);
      first();
      expect([gate.inside, gate.waiting, gate.unreplaced]).toEqual([1, 1, 0]);
      second();
      (await third)();
      expect([gate.inside, gate.waiting]).toEqual([0, 0]);
    });

    it("replaces nobody any longer for a holder that leaves while it waits", async () => {
      const gate = new FairGate(1, 1);
      const first = await gate.enter({ session: "a" });
      first.setWaiting(true);
      first();
      const second = gate.tryEnter({ session: "b" });
      first.setWaiting(false);
      first.setWaiting(true);
      expect(gate.tryEnter({ session: "c" })).toBeUndefined();
      second?.();
      expect([gate.inside, gate.unreplaced]).toEqual([0, 0]);
    });

    it("removes a caller that aborts while it waits, and only that one", async () => {
      const gate = new FairGate(1);
      const leave = await gate.enter({ session: "a" });
      const abort = new AbortController();
      const before = gate.enter({ session: "b" });
      const aborted = gate.enter({ session: "b" }, abort.signal);
      const after = gate.enter({ session: "b" });
      abort.abort(new Error("no longer"));
      await expect(aborted).rejects.toThrow("no longer");
      expect(gate.waiting).toBe(2);
      leave();
      (await before)();
      (await after)();
      expect([gate.inside, gate.waiting]).toEqual([0, 0]);
    });

    it("forgets a key whose last caller has aborted", async () => {
      const gate = new FairGate(1);
      const leave = await gate.enter({ session: "a" });
      const abort = new AbortController();
      const aborted = gate.enter({ session: "b" }, abort.signal);
      abort.abort(new Error("no longer"));
      await expect(aborted).rejects.toThrow("no longer");
      const other = gate.enter({ session: "c" });
      leave();
      (await other)();
      expect([gate.inside, gate.waiting]).toEqual([0, 0]);
    });

    it("ignores an abort after the admission", async () => {
      const gate = new FairGate(1);
      const leave = await gate.enter({ session: "a" });
      const abort = new AbortController();
      const waiting = gate.enter({ session: "b" }, abort.signal);
      leave();
      const leaveLater = await waiting;
      abort.abort();
      expect([gate.inside, gate.waiting]).toEqual([1, 0]);
      leaveLater();
      expect(gate.inside).toBe(0);
    });

    it("refuses a caller whose signal has aborted already", async () => {
      const gate = new FairGate(1);
      await expect(gate.enter({ session: "c" }, AbortSignal.abort())).rejects.toMatchObject({
        name: "AbortError",
      });
      expect(gate.inside).toBe(0);
    });
  });
});
