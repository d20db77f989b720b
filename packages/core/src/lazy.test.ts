import { describe, expect, it } from "vitest";
import { Lazy } from "./promises.ts";

describe("Lazy", () => {
  it("creates its value once, at the first use", async () => {
    let created = 0;
    const lazy = new Lazy(async () => (created += 1));
    expect(lazy.isStarted).toBe(false);
    expect(lazy.current).toBeUndefined();
    await expect(lazy.settled()).resolves.toBeUndefined();
    await expect(Promise.all([lazy.get(), lazy.get()])).resolves.toEqual([1, 1]);
    expect(lazy.isStarted).toBe(true);
    expect(lazy.current).toBe(1);
  });

  it("forgets a creation that failed", async () => {
    let broken = true;
    const lazy = new Lazy(async () => {
      if (broken) throw new Error("no");
      return 1;
    });
    const first = lazy.get();
    await expect(lazy.settled()).resolves.toBeUndefined();
    await expect(first).rejects.toThrow("no");
    expect(lazy.isStarted).toBe(false);
    broken = false;
    await expect(lazy.get()).resolves.toBe(1);
    await expect(lazy.settled()).resolves.toBe(1);
  });
});
