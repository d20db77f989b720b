import { describe, expect, it } from "vitest";
import { DEFAULT_RUN_LIMITS } from "./limits.ts";

describe("DEFAULT_RUN_LIMITS", () => {
  it("are five minutes, 512 MiB and a thousand calls, in their units", () => {
    expect(DEFAULT_RUN_LIMITS).toEqual({
      timeoutMs: 300_000,
      memoryMb: 512,
      outputBytes: 262_144,
      calls: 1_000,
      callsInFlight: 32,
      payloadBytes: 8_388_608,
      writeMb: 1_024,
    });
    expect(Object.isFrozen(DEFAULT_RUN_LIMITS)).toBe(true);
  });
});
