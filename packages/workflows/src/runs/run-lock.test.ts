import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ownIdentity } from "./process-identity.ts";
import { holderOf, RunLock } from "./run-lock.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "cem-lock-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const leave = (number: number, content: object): void =>
  writeFileSync(
    path.join(folder, `lock.${number}`),
    JSON.stringify({ ...ownIdentity(), token: "other", beats: 0, isReleased: false, ...content }),
  );
/** The number of a process that has ended. */
const deadPid = (): number => spawnSync(process.execPath, ["-e", ""]).pid;

describe("RunLock", () => {
  it("goes to one of many who want it", async () => {
    leave(1, { pid: deadPid() });
    const taken = await Promise.allSettled(Array.from({ length: 20 }, () => RunLock.take(folder)));
    const holders = taken.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    expect(holders).toHaveLength(1);
    expect(await holderOf(folder)).toMatchObject({ pid: process.pid });
    await holders[0]?.release();
    expect(await holderOf(folder)).toBeUndefined();
    await (await RunLock.take(folder)).release();
    expect(readdirSync(folder)).toHaveLength(1);
  });

  it("is taken from a process that was killed, also where another has its number now", async () => {
    leave(1, { pid: deadPid() });
    await (await RunLock.take(folder)).release();
    leave(9, { started: "1" });
    await (await RunLock.take(folder)).release();
    leave(20, {});
    await expect(RunLock.take(folder)).rejects.toMatchObject({ code: "WORKFLOW_RUN_BUSY" });
  });

  it("tells a holder that it was taken for dead", async () => {
    const lock = await RunLock.take(folder);
    lock.assertHeld();
    leave(2, {});
    expect(lock.assertHeld).toThrow(/taken this run over/);
    await lock.release();
    expect(readdirSync(folder).filter((name) => name.startsWith("lock"))).toEqual(["lock.1", "lock.2"]);
  });

  it("is not held off by a file that can't be read", async () => {
    writeFileSync(path.join(folder, "lock.7"), "nonsense");
    await (await RunLock.take(folder)).release();
    expect(await holderOf(folder)).toBeUndefined();
  });
});
