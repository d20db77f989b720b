import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { FileLock, holderOf, withFileLock } from "./index.ts";
import { ownIdentity } from "./processes.ts";

const hasProc = existsSync("/proc/self/stat");
const canUnshare = spawnSync("unshare", ["--pid", "--fork", "--mount-proc", "true"]).status === 0;
const MODULE = path.join(import.meta.dirname, "index.ts");

let folder: string;
let place: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "cem-lock-"));
  place = path.join(folder, "it.lock");
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
});

class Busy extends Error {}
const NOW = { waitMs: 0, busy: () => new Busy() };

/** Leaves a lock as another process would have. */
function leave(number: number, content: object): string {
  const file = `${place}.${number}`;
  writeFileSync(file, JSON.stringify({ ...ownIdentity(), token: `other ${number}`, ...content }));
  return file;
}

/** The number of a process that has ended. */
const deadPid = (): number => spawnSync(process.execPath, ["-e", ""]).pid;

/** The number of a process that was killed and that its parent does not ask about. */
async function zombie(): Promise<number> {
  const parent = spawn("sh", ["-c", "sleep 60 & echo $!; kill -9 $!; exec sleep 60"]);
  onTestFinished(() => void parent.kill("SIGKILL"));
  const [line] = (await once(parent.stdout, "data")) as [Buffer];
  const pid = Number(line);
  await vi.waitFor(() => expect(readFileSync(`/proc/${pid}/stat`, "utf8")).toMatch(/\) Z /u));
  return pid;
}

describe("FileLock", () => {
  it("goes to one of many who want it, and leaves nothing behind", async () => {
    leave(1, { pid: deadPid() });
    const taken = await Promise.allSettled(Array.from({ length: 20 }, () => FileLock.take(place, NOW)));
    const locks = taken.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    expect(locks).toHaveLength(1);
    expect(holderOf(place)).toMatchObject({ pid: process.pid });
    locks[0]?.release();
    expect(holderOf(place)).toBeUndefined();
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

  it("is taken from a process that has ended, be it that another has its number now", async () => {
    leave(1, { pid: deadPid() });
    (await FileLock.take(place, NOW)).release();
    leave(1, {});
    await expect(FileLock.take(place, NOW)).rejects.toThrow(Busy);
  });

  it.skipIf(!hasProc)("is taken from a zombie, and where the number is another process's now", async () => {
    const pid = await zombie();
    const [, fields = ""] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ");
    leave(1, { pid, started: fields.split(" ")[19] });
    (await FileLock.take(place, NOW)).release();
    leave(9, { started: "1" });
    FileLock.takeSync(place, NOW).release();
    expect(readdirSync(folder)).toEqual([]);
  });

  it("waits for a holder that it can't judge while that shows signs of life, and no longer", async () => {
    const file = leave(3, { host: "another machine" });
    let silence = 0;
    vi.spyOn(performance, "now").mockImplementation(() => silence);
    const watched = FileLock.take(place, NOW);
    watched.catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 60));
    const later = new Date(Date.now() + 1_000);
    utimesSync(file, later, later);
    silence += 10_000;
    await expect(watched).rejects.toThrow(Busy);

    const patient = FileLock.take(place, { ...NOW, waitMs: 1e9 });
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(holderOf(place)).toMatchObject({ host: "another machine" });
    silence += 16_000;
    (await patient).release();
    expect(readdirSync(folder)).toEqual([]);
  });

  it("shows signs of life while it is held", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "Date"] });
    const lock = await FileLock.take(place, NOW);
    const before = holderOf(place)?.beat;
    vi.advanceTimersByTime(5_000);
    expect(holderOf(place)?.beat).not.toBe(before);
    lock.release();
  });

  it("tells a holder that it was held for dead, who leaves the other's lock alone", async () => {
    const lock = await FileLock.take(place, NOW);
    expect(lock.isHeld()).toBe(true);
    leave(2, {});
    expect(lock.isHeld()).toBe(false);
    lock.release();
    expect(readdirSync(folder)).toEqual(["it.lock.2"]);
    rmSync(`${place}.2`);
    // The next one begins with the same number.
    leave(1, {});
    expect(lock.isHeld()).toBe(false);
    lock.release();
    expect(readdirSync(folder)).toEqual(["it.lock.1"]);
  });

  it("is held off by a file that can't be understood only until that shows no sign of life", async () => {
    let now = 0;
    vi.spyOn(performance, "now").mockImplementation(() => now);
    for (const text of ["nonsense", "{}", '{"host":1,"token":"x","pid":1}', ""]) {
      writeFileSync(leave(7, {}), text);
      const taken = FileLock.take(place, NOW);
      await new Promise((resolve) => setTimeout(resolve, 60));
      expect(readdirSync(folder)).toEqual(["it.lock.7"]);
      now += 16_000;
      (await taken).release();
    }
    expect(holderOf(place)).toBeUndefined();
  });

  it("stops waiting when its signal does", async () => {
    leave(1, {});
    const waiting = withFileLock(place, async () => "done", {
      ...NOW,
      waitMs: 60_000,
      signal: AbortSignal.timeout(30),
    });
    await expect(waiting).rejects.toThrow(/abort/iu);
  });

  it.skipIf(!canUnshare)("can't judge a holder in another namespace of processes by its number", () => {
    // There the process 1 runs, as here.
    const code = `const { FileLock } = await import(${JSON.stringify(MODULE)});
FileLock.takeSync(${JSON.stringify(place)}, { waitMs: 0, busy: () => new Error("busy") }); process.exit();`;
    const args = ["--pid", "--fork", "--mount-proc", process.execPath];
    spawnSync("unshare", [...args, "--conditions=@cem/source", "--input-type=module", "-e", code]);
    expect(holderOf(place)).toMatchObject({ pid: 1 });
  });
});
