import { setImmediate } from "node:timers/promises";
import { describe, expect, it, vi } from "vitest";
import { Shares } from "./fair-gate.ts";

const never = new AbortController().signal;

describe("Shares", () => {
  it("lets one client have some runs under way, and others theirs", async () => {
    const shares = new Shares(2);
    const started: string[] = [];
    const ends: (() => void)[] = [];
    const begin = (quotaOwner: string, name: string, signal = never): Promise<string> =>
      shares.run(quotaOwner, signal, async () => {
        started.push(name);
        if (!signal.aborted) await new Promise<void>((resolve) => ends.push(resolve));
        return name;
      });
    const all = [begin("a", "a1"), begin("a", "a2"), begin("a", "a3"), begin("a", "a4"), begin("b", "b1")];
    await vi.waitFor(() => expect(started).toHaveLength(3));
    expect([started, shares.countOf("a")]).toEqual([["a1", "a2", "b1"], 4]);
    const cancelled = new AbortController();
    all.push(begin("a", "a5", cancelled.signal));
    cancelled.abort();
    expect(await all[5]).toBe("a5");
    ends[0]?.();
    await all[0];
    await vi.waitFor(() => expect(started).toHaveLength(5));
    expect(started).toEqual(["a1", "a2", "b1", "a5", "a3"]);
    while (ends.length > 0 || shares.countOf("a") > 0) {
      ends.shift()?.();
      await setImmediate();
    }
    expect(await Promise.all(all)).toEqual(["a1", "a2", "a3", "a4", "b1", "a5"]);
    expect([shares.countOf("a"), shares.countOf("b")]).toEqual([0, 0]);
  });

  it("frees the place of a run that throws", async () => {
    const shares = new Shares(1);
    await expect(shares.run("a", never, () => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
    expect(await shares.run("a", never, async () => 1)).toBe(1);
  });
});
