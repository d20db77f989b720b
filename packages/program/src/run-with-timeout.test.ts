import { describe, expect, it } from "vitest";
import { runWithTimeout, SyncTimeoutError } from "./run-with-timeout.ts";

describe("runWithTimeout", () => {
  it("returns what the task returns", () => {
    expect(runWithTimeout(() => 42, 1_000)).toBe(42);
  });

  it("throws what the task throws", () => {
    const error = new Error("mine");
    expect(() =>
      runWithTimeout(() => {
        throw error;
      }, 1_000),
    ).toThrow(error);
  });

  it("gives a task its time where something else took the processor", () => {
    let runs = 0;
    const waited = runWithTimeout(() => {
      runs += 1;
      // Uses no processor time while it waits.
      if (runs < 3) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60_000);
      return runs;
    }, 20);
    expect(waited).toBe(3);
  });

  it("stops a task at its timeout", () => {
    const endless = (): never => {
      for (;;);
    };
    expect(() => runWithTimeout(endless, 20)).toThrow(SyncTimeoutError);
    expect(() => runWithTimeout(endless, 20)).toThrow("The task was stopped after 20 ms.");
    expect(runWithTimeout(() => "next", 1_000)).toBe("next");
  });
});
