import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createDeadline } from "./deadline.ts";

const never = new AbortController().signal;
beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

describe("createDeadline", () => {
  it("ends when the time is up", () => {
    const deadline = createDeadline(100, 1_000, never);
    vi.advanceTimersByTime(99);
    expect(deadline.signal.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    expect(deadline.expired).toBe(true);
    expect(deadline.signal.aborted).toBe(true);
  });

  it("stands still while it is paused, also when that is done twice", () => {
    const deadline = createDeadline(100, 1_000, never);
    vi.advanceTimersByTime(60);
    deadline.pause();
    deadline.pause();
    vi.advanceTimersByTime(5_000);
    deadline.resume();
    vi.advanceTimersByTime(5_000);
    deadline.resume();
    vi.advanceTimersByTime(39);
    expect(deadline.expired).toBe(false);
    vi.advanceTimersByTime(1);
    expect(deadline.expired).toBe(true);
  });

  it("can be stretched, but not for ever", () => {
    const deadline = createDeadline(100, 250, never);
    for (let round = 0; round < 3; round += 1) {
      vi.advanceTimersByTime(80);
      expect(deadline.expired).toBe(false);
      deadline.restart();
    }
    vi.advanceTimersByTime(10);
    expect(deadline.expired).toBe(true);
  });

  it("ends with the caller's signal, which is not its own doing", () => {
    const controller = new AbortController();
    const deadline = createDeadline(100, 1_000, controller.signal);
    controller.abort();
    expect(deadline.signal.aborted).toBe(true);
    expect(deadline.expired).toBe(false);
  });

  it("leaves no timer behind when a pause outlasts it", () => {
    const deadline = createDeadline(100, 100, never);
    deadline.pause();
    deadline.dispose();
    deadline.resume();
    expect(vi.getTimerCount()).toBe(0);
  });
});
