import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runHolder, RunLock } from "./run-folder.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "cem-lock-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Leaves the lock of another holder, which has this process's identity unless something else is given. */
async function leave(number: number, content: object): Promise<void> {
  const other = mkdtempSync(path.join(tmpdir(), "cem-lock-"));
  const lock = await RunLock.take(other);
  const holder = runHolder(other);
  lock.release();
  rmSync(other, { recursive: true });
  writeFileSync(path.join(folder, `lock.${number}`), JSON.stringify({ ...holder, ...content }));
}

describe("RunLock", () => {
  it("goes to one of many who want it, from a process that was killed", async () => {
    await leave(1, { pid: spawnSync(process.execPath, ["-e", ""]).pid });
    expect(runHolder(folder)).toBeUndefined();
    const taken = await Promise.allSettled(Array.from({ length: 20 }, () => RunLock.take(folder)));
    const holders = taken.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    expect(holders).toHaveLength(1);
    expect(runHolder(folder)).toMatchObject({ pid: process.pid });
    holders[0]?.release();
    expect(runHolder(folder)).toBeUndefined();
    expect(readdirSync(folder)).toEqual([]);
  });

  it("says which process executes the run", async () => {
    await leave(20, {});
    await expect(RunLock.take(folder)).rejects.toMatchObject({
      code: "WORKFLOW_RUN_BUSY",
      details: { pid: process.pid },
    });
  });

  it("tells a holder that it was taken for dead", async () => {
    const lock = await RunLock.take(folder);
    lock.assertHeld();
    await leave(2, {});
    expect(lock.assertHeld).toThrow(/taken this run over/);
    lock.release();
    expect(readdirSync(folder)).toEqual(["lock.2"]);
  });
});
