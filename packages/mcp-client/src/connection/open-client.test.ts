import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ConnectionHealth } from "./open-client.ts";

describe("ConnectionHealth", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["performance"] });
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });

  it("doubles the delay up to a minute, until an attempt succeeds", () => {
    vi.spyOn(Math, "random").mockReturnValue(1);
    const health = new ConnectionHealth();
    expect(health.waitMs).toBe(0);
    const delays = Array.from({ length: 8 }, () => {
      health.failed();
      return health.waitMs;
    });
    expect(delays).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
    vi.advanceTimersByTime(59_000);
    expect(health.waitMs).toBe(1_000);
    vi.advanceTimersByTime(2_000);
    expect(health.waitMs).toBe(0);
    health.succeeded();
    health.failed();
    expect(health.waitMs).toBe(1_000);
  });

  it("takes up to a quarter off the delay", () => {
    vi.spyOn(Math, "random").mockReturnValue(0);
    const health = new ConnectionHealth();
    health.failed();
    expect(health.waitMs).toBe(750);
  });
});
