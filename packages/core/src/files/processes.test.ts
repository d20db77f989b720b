import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { isProcessRunning, processStart } from "./index.ts";

/** The number of a process that has ended and was reaped. */
const endedProcess = (): number => spawnSync(process.execPath, ["--version"]).pid;

describe("isProcessRunning", () => {
  it("tells a process that runs from one that has ended, whoever's it is", () => {
    expect(isProcessRunning(process.pid)).toBe(true);
    expect(isProcessRunning(1)).toBe(process.platform !== "win32");
    expect(isProcessRunning(endedProcess())).toBe(false);
  });
});

describe.skipIf(!existsSync("/proc/self/stat"))("processStart", () => {
  it("stays the same for a process, and is unknown for one that has ended", () => {
    const started = processStart(process.pid);
    expect(started).toMatch(/^\d+$/u);
    expect(processStart(process.pid)).toBe(started);
    expect(processStart(endedProcess())).toBeUndefined();
  });

  it("is read behind a program's name, whatever that holds", () => {
    const title = process.title;
    try {
      const started = processStart(process.pid);
      process.title = "a) 1 2 3";
      expect(processStart(process.pid)).toBe(started);
    } finally {
      process.title = title;
    }
  });
});
