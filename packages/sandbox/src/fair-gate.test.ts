import { describe, expect, it } from "vitest";
import { FairGate } from "./fair-gate.ts";

describe("FairGate", () => {
  it("lets in so many at once, and the others by turns of their keys", async () => {
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

  it("forgets who was aborted while waiting, and counts a way out once", async () => {
    const gate = new FairGate(1);
    const leave = await gate.enter("a");
    const abort = new AbortController();
    const waiting = gate.enter("b", abort.signal);
    abort.abort(new Error("no longer"));
    await expect(waiting).rejects.toThrow("no longer");
    expect(gate.waiting).toBe(0);
    leave();
    leave();
    expect(gate.inside).toBe(0);
    await expect(gate.enter("c", AbortSignal.abort())).rejects.toMatchObject({ name: "AbortError" });
  });
});
