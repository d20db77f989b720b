import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { createProcessFolder, removeProcessFolder } from "./processes.ts";

it("makes folders that go with their process, and removes those of processes that are gone", () => {
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
  removeProcessFolder(folder);
  removeProcessFolder(folder);
  expect(existsSync(folder)).toBe(false);
});
