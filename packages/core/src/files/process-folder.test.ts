import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, isAbsolute, join, relative } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { createProcessFolder, removeProcessFolder } from "./processes.ts";

const MODULE = JSON.stringify(new URL("processes.ts", import.meta.url).href);
const IN_NAMESPACE = ["unshare", "--pid", "--fork", "--mount-proc"];
const canUnshare = spawnSync(IN_NAMESPACE[0] ?? "", [...IN_NAMESPACE.slice(1), "true"]).status === 0;

/** Makes such a folder in a process of its own, and does something there. */
function makeElsewhere(below: string, then = "", prefix: readonly string[] = []): string {
  const code = `const { createProcessFolder } = await import(${MODULE}); console.log(createProcessFolder(${JSON.stringify(below)}, "own")); ${then}`;
  const node = [process.execPath, "--conditions=@cem/source", "--input-type=module", "-e", code];
  const [file = "", ...args] = [...prefix, ...node];
  return spawnSync(file, args, { encoding: "utf8" }).stdout.trim();
}

it("makes folders that go with their process, and removes those of processes that are gone", () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const below = mkdtempSync(join(tmpdir(), "cem-below-"));
  onTestFinished(() => rmSync(below, { recursive: true }));
  expect(existsSync(makeElsewhere(below))).toBe(false);
  const killed = makeElsewhere(below, `process.kill(process.pid, "SIGKILL");`);
  expect(existsSync(killed)).toBe(true);
  const gone = 2 ** 22 + 1;
  for (const name of [`own-${gone}-abcdef`, `own-${gone}-oldold`, `own-2-${gone}-abcdef`, "own-x"])
    mkdirSync(join(below, name));
  utimesSync(join(below, `own-${gone}-oldold`), 0, 0);
  const folder = createProcessFolder(below, "own");
  const left = readdirSync(below).filter((name) => join(below, name) !== folder);
  // Whether the process of one that another version made is running can't be known, so it goes when it is old.
  expect(left.toSorted()).toEqual([`own-${gone}-abcdef`, `own-2-${gone}-abcdef`, "own-x"].toSorted());
  const file = join(folder, "inner/file");
  mkdirSync(join(folder, "inner"));
  writeFileSync(file, "");
  for (const one of [file, folder]) utimesSync(one, 0, 0);
  vi.advanceTimersByTime(86_400_000);
  for (const one of [file, folder]) expect(statSync(one).mtimeMs).toBeGreaterThan(0);
  removeProcessFolder(folder);
  removeProcessFolder(folder);
  expect(existsSync(folder)).toBe(false);
});

it.skipIf(!canUnshare)("keeps those of processes in another namespace, whose pids mean nothing here", () => {
  const below = mkdtempSync(join(tmpdir(), "cem-below-"));
  onTestFinished(() => rmSync(below, { recursive: true }));
  const folder = createProcessFolder(below, "own");
  onTestFinished(() => removeProcessFolder(folder));
  expect(makeElsewhere(below, "", IN_NAMESPACE)).toContain(join(below, "own-"));
  expect(readdirSync(below)).toEqual([basename(folder)]);
});

it("names them absolutely where the folder for temporary files is a relative one", () => {
  vi.stubEnv("TMPDIR", relative(".", tmpdir()));
  onTestFinished(() => void vi.unstubAllEnvs());
  const folder = createProcessFolder(tmpdir(), "cem-relative");
  onTestFinished(() => removeProcessFolder(folder));
  expect(isAbsolute(folder)).toBe(true);
});

it("says which variable names the folder for temporary files, where that can't be used", () => {
  vi.stubEnv("TMPDIR", join(tmpdir(), "cem-is-not-there"));
  onTestFinished(() => void vi.unstubAllEnvs());
  for (let times = 0; times < 2; times += 1) {
    expect(() => createProcessFolder(tmpdir(), "own")).toThrow(
      /^The folder for temporary files .*ENOENT.*TMPDIR/,
    );
  }
});
