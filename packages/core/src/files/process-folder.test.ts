import { execFileSync } from "node:child_process";
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
import { isAbsolute, join, relative } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { createProcessFolder, removeProcessFolder } from "./processes.ts";

it("makes folders that go with their process, and removes those of processes that are gone", () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const below = mkdtempSync(join(tmpdir(), "cem-below-"));
  onTestFinished(() => rmSync(below, { recursive: true }));
  const module = JSON.stringify(new URL("processes.ts", import.meta.url).href);
  const code = `const { createProcessFolder } = await import(${module}); console.log(createProcessFolder(${JSON.stringify(below)}, "own"));`;
  const made = execFileSync(process.execPath, [
    "--conditions=@cem/source",
    "--input-type=module",
    "-e",
    code,
  ]);
  expect(existsSync(made.toString().trim())).toBe(false);
  const gone = 2 ** 22 + 1;
  for (const name of [`own-${gone}-abcdef`, `own-2-${gone}-abcdef`, `own-${process.ppid}-abcdef`, "own-x"])
    mkdirSync(join(below, name));
  const folder = createProcessFolder(below, "own");
  const left = readdirSync(below).filter((name) => join(below, name) !== folder);
  expect(left.toSorted()).toEqual([`own-${process.ppid}-abcdef`, `own-2-${gone}-abcdef`, "own-x"].toSorted());
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
