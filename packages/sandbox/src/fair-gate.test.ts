import { describe, expect, it } from "vitest";
import { FairGate } from "./fair-gate.ts";

describe("FairGate", () => {
  describe("enter", () => {
    it("admits as many as its capacity, and the others round-robin by key", async () => {
      const gate = new FairGate(1);
      const order: string[] = [];
      const first = await gate.enter("a");
      const visits = ["a1", "a2", "a3", "b1", "c1"].map(async (name) => {
        const leave = await gate.enter(name[0]);
        order.push(name);
        leave();
      });
      expect([gate.inside, gate.waiting]).toEqual([1, 5]);
      first();
      await Promise.all(visits);
      expect(order).toEqual(["a1", "b1", "c1", "a2", "a3"]);
      expect([gate.inside, gate.waiting]).toEqual([0, 0]);
    });

    it("hands a freed slot on without exceeding the capacity", async () => {
      const gate = new FairGate(2);
      const leaves = [await gate.enter("a"), await gate.enter("a")];
      const third = gate.enter("b");
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
      const leave = await gate.enter("a");
      await gate.enter("a");
      leave();
      leave();
      expect(gate.inside).toBe(1);
    });

    it("removes a caller that aborts while it waits, and only that one", async () => {
      const gate = new FairGate(1);
      const leave = await gate.enter("a");
      const abort = new AbortController();
      const before = gate.enter("b");
      const aborted = gate.enter("b", abort.signal);
      const after = gate.enter("b");
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
      const leave = await gate.enter("a");
      const abort = new AbortController();
      const aborted = gate.enter("b", abort.signal);
      abort.abort(new Error("no longer"));
      await expect(aborted).rejects.toThrow("no longer");
      const other = gate.enter("c");
      leave();
      (await other)();
      expect([gate.inside, gate.waiting]).toEqual([0, 0]);
    });

    it("ignores an abort after the admission", async () => {
      const gate = new FairGate(1);
      const leave = await gate.enter("a");
      const abort = new AbortController();
      const waiting = gate.enter("b", abort.signal);
      leave();
      const leaveLater = await waiting;
      abort.abort();
      expect([gate.inside, gate.waiting]).toEqual([1, 0]);
      leaveLater();
      expect(gate.inside).toBe(0);
    });

    it("refuses a caller whose signal has aborted already", async () => {
      const gate = new FairGate(1);
      await expect(gate.enter("c", AbortSignal.abort())).rejects.toMatchObject({ name: "AbortError" });
      expect(gate.inside).toBe(0);
    });
  });
});
