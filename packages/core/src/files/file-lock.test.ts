import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { FileLock, withFileLock } from "./index.ts";

const canUnshare = spawnSync("unshare", ["--pid", "--fork", "--mount-proc", "true"]).status === 0;
const MODULE = path.join(import.meta.dirname, "index.ts");

let folder: string;
let place: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "cem-lock-"));
  place = path.join(folder, "it.lock");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

class Busy extends Error {}
const NOW = { waitMs: 0, busy: () => new Busy() };

/** Starts a process that holds the lock until it is killed, although it keeps nothing of it. */
async function hold(...around: string[]): Promise<() => Promise<unknown>> {
  const code = `const { FileLock } = await import(${JSON.stringify(MODULE)});
FileLock.takeSync(${JSON.stringify(place)}, { waitMs: 0, busy: () => new Error("busy") }); gc(); console.log("held"); setInterval(() => {}, 1e6);`;
  const [command, ...args] = [
    ...around,
    process.execPath,
    "--expose-gc",
    "--conditions=@cem/source",
    "--input-type=module",
    "-e",
    code,
  ];
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  await Promise.race([
    once(child.stdout, "data"),
    once(child, "close").then(() => Promise.reject(new Busy())),
  ]);
  return () => {
    child.kill("SIGKILL");
    return once(child, "close");
  };
}

describe("FileLock", () => {
  it("goes to one of many who want it, and leaves nothing behind", async () => {
    writeFileSync(place, ""); // of a process that was killed
    expect(FileLock.isHeld(place)).toBe(false);
    const taken = await Promise.allSettled(Array.from({ length: 20 }, () => FileLock.take(place, NOW)));
    const locks = taken.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    expect(locks).toHaveLength(1);
    expect(FileLock.isHeld(place)).toBe(true);
    expect(() => FileLock.takeSync(place, NOW)).toThrow(Busy);
    locks[0]?.release();
    expect(FileLock.isHeld(place)).toBe(false);
    expect(readdirSync(folder)).toEqual([]);
  });

  it("is held by one process at a time, whoever of them is killed", async () => {
    const counter = path.join(folder, "count");
    writeFileSync(counter, "0");
    const code = `import { readFileSync, writeFileSync } from "node:fs";
const { FileLock } = await import(${JSON.stringify(MODULE)});
for (let turn = 0; ; turn += 1) {
  const lock = turn % 2 === 0 ? FileLock.takeSync(${JSON.stringify(place)}, { waitMs: 60_000, busy: () => new Error("busy") })
    : await FileLock.take(${JSON.stringify(place)}, { waitMs: 60_000, busy: () => new Error("busy") });
  const before = Number(readFileSync(${JSON.stringify(counter)}, "utf8"));
  if (turn === Number(process.argv[1])) process.kill(process.pid, "SIGKILL");
  if (turn === 40) process.exit(0);
  writeFileSync(${JSON.stringify(counter)}, String(before + 1));
  lock.release();
}`;
    const ends = ["15", "7", "99", "99"].map(async (turn) => {
      const args = ["--conditions=@cem/source", "--input-type=module", "-e", code, turn];
      const child = spawn(process.execPath, args, { stdio: ["ignore", "inherit", "inherit"] });
      return (await once(child, "close")) as unknown[];
    });
    expect(await Promise.all(ends)).toEqual([
      [null, "SIGKILL"],
      [null, "SIGKILL"],
      [0, null],
      [0, null],
    ]);
    expect(readFileSync(counter, "utf8")).toBe(String(15 + 7 + 40 + 40));
  }, 60_000);

  it.each([
    ["", []],
    [", in another namespace of processes", ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]],
  ])("is free as soon as its process has ended%s, as a zombie too", async (_, around) => {
    if (around.length > 0 && !canUnshare) return;
    const kill = await hold(...around);
    await expect(FileLock.take(place, NOW)).rejects.toThrow(Busy);
    expect(FileLock.isHeld(place)).toBe(true);
    await kill();
    const lock = await vi.waitFor(() => FileLock.take(place, NOW), { timeout: 10_000 });
    lock.release();
    expect(readdirSync(folder)).toEqual([]);
  });

  it("stops waiting when its signal does, and says what is wrong with its folder", async () => {
    const lock = await FileLock.take(place, NOW);
    const signal = AbortSignal.timeout(30);
    const waiting = withFileLock(place, async () => "done", { ...NOW, waitMs: 60_000, signal });
    await expect(waiting).rejects.toThrow(/abort/iu);
    lock.release();
    await expect(FileLock.take(path.join(folder, "none", "it"), NOW)).rejects.toThrow(/ENOENT/u);
  });
});
