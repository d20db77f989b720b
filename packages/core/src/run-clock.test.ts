import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createRunClock } from "./run-clock.ts";

describe("createRunClock", () => {
  let expired = 0;
  const make = (timeoutMs: number) => createRunClock(timeoutMs, () => (expired += 1));
  beforeEach(() => {
    expired = 0;
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  });
  afterEach(() => vi.useRealTimers());

  it("expires once, after the timeout", () => {
    make(100).start();
    vi.advanceTimersByTime(99);
    expect(expired).toBe(0);
    vi.advanceTimersByTime(1);
    expect(expired).toBe(1);
    vi.advanceTimersByTime(1_000);
    expect(expired).toBe(1);
  });

  it("doesn't count the time while it is paused, however many pauses overlap", () => {
    const clock = make(100);
    clock.start();
    vi.advanceTimersByTime(60);
    clock.setWaiting(true);
    vi.advanceTimersByTime(500);
    clock.setWaiting(true);
    clock.setWaiting(false);
    vi.advanceTimersByTime(500);
    expect(expired).toBe(0);
    clock.setWaiting(false);
    vi.advanceTimersByTime(39);
    expect(expired).toBe(0);
    vi.advanceTimersByTime(1);
    expect(expired).toBe(1);
  });

  it("counts what is computed in a pause, and nothing else that it is told of", () => {
    const clock = make(100);
    clock.start();
    clock.charge(90);
    clock.setWaiting(true);
    vi.advanceTimersByTime(1_000);
    clock.charge(99);
    expect([expired, clock.spentMs]).toEqual([0, 99]);
    clock.charge(1);
    expect(expired).toBe(1);
  });

  it("adds up the time before several pauses", () => {
    const clock = make(100);
    clock.start();
    for (let pause = 0; pause < 3; pause += 1) {
      vi.advanceTimersByTime(30);
      clock.setWaiting(true);
      vi.advanceTimersByTime(1_000);
      clock.setWaiting(false);
    }
    vi.advanceTimersByTime(9);
    expect(expired).toBe(0);
    vi.advanceTimersByTime(1);
    expect(expired).toBe(1);
  });

  it("never expires once it is stopped", () => {
    const clock = make(100);
    clock.start();
    clock.setWaiting(true);
    clock.stop();
    clock.setWaiting(false);
    clock.start();
    vi.advanceTimersByTime(1_000);
    const other = make(100);
    other.start();
    other.stop();
    vi.advanceTimersByTime(1_000);
    expect(expired).toBe(0);
  });
});
