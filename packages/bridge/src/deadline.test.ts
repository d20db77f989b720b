import { getEventListeners } from "node:events";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createDeadline } from "./deadline.ts";
import type { Deadline } from "./deadline.ts";

const never = new AbortController().signal;
beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

/** The milliseconds until a deadline expires. */
function remaining(deadline: Deadline): number {
  let ms = 0;
  for (; !deadline.expired && ms < 10_000; ms += 1) vi.advanceTimersByTime(1);
  return ms;
}

describe("createDeadline", () => {
  it("aborts with a TimeoutError when the timeout expires", () => {
    const deadline = createDeadline(100, 1_000, never);
    expect([deadline.expired, deadline.signal.aborted]).toEqual([false, false]);
    expect(remaining(deadline)).toBe(100);
    expect(deadline.signal.reason).toMatchObject({ name: "TimeoutError", message: "The timeout expired." });
  });

  it("aborts with the reason of the outer signal, and has not expired then or later", () => {
    const controller = new AbortController();
    const deadline = createDeadline(100, 1_000, controller.signal);
    controller.abort("cancelled");
    expect(deadline.signal.reason).toBe("cancelled");
    vi.advanceTimersByTime(1_000);
    expect(deadline.expired).toBe(false);
    expect(createDeadline(100, 100, AbortSignal.abort("before")).signal.reason).toBe("before");
  });

  describe("pause", () => {
    it("stops the clock until it is resumed as often", () => {
      const deadline = createDeadline(100, 1_000, never);
      vi.advanceTimersByTime(60);
      deadline.pause();
      deadline.pause();
      vi.advanceTimersByTime(5_000);
      deadline.resume();
      vi.advanceTimersByTime(5_000);
      deadline.resume();
      expect(remaining(deadline)).toBe(40);
    });

    it("can be repeated", () => {
      const deadline = createDeadline(100, 1_000, never);
      for (let round = 0; round < 3; round += 1) {
        vi.advanceTimersByTime(20);
        deadline.pause();
        vi.advanceTimersByTime(500);
        deadline.resume();
      }
      expect(remaining(deadline)).toBe(40);
    });
  });

  describe("restart", () => {
    it("grants the full timeout again, within the total", () => {
      const deadline = createDeadline(100, 250, never);
      vi.advanceTimersByTime(80);
      deadline.restart();
      vi.advanceTimersByTime(80);
      deadline.restart();
      expect(remaining(deadline)).toBe(90);
    });

    it("grants nothing when the total is used up", () => {
      const deadline = createDeadline(100, 150, never);
      vi.advanceTimersByTime(90);
      deadline.restart();
      vi.advanceTimersByTime(60 - 1);
      deadline.restart();
      expect(remaining(deadline)).toBe(1);
    });

    it("keeps a paused clock stopped, and to the total", () => {
      const deadline = createDeadline(100, 150, never);
      vi.advanceTimersByTime(90);
      deadline.pause();
      deadline.restart();
      vi.advanceTimersByTime(5_000);
      expect(deadline.expired).toBe(false);
      deadline.resume();
      expect(remaining(deadline)).toBe(60);
    });
  });

  describe("dispose", () => {
    it("stops the clock and leaves the outer signal", () => {
      const { signal } = new AbortController();
      const deadline = createDeadline(100, 100, signal);
      expect(getEventListeners(signal, "abort")).toHaveLength(1);
      deadline.dispose();
      expect([getEventListeners(signal, "abort").length, vi.getTimerCount()]).toEqual([0, 0]);
    });

    it("leaves no timer behind when a pause outlasts it", () => {
      const deadline = createDeadline(100, 100, never);
      deadline.pause();
      deadline.dispose();
      deadline.resume();
      expect(vi.getTimerCount()).toBe(0);
    });
  });
});
