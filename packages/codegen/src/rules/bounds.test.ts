import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";

const FOLDER = import.meta.dirname;
/** The folders, each of which imports from those before it alone. */
const LAYERS = ["language", "program", "planning", "arithmetic", "calls", "rows", "files", "tasks"];
const files = readdirSync(FOLDER, { recursive: true, encoding: "utf8" }).filter(
  (file) => file.endsWith(".ts") && !file.endsWith(".test.ts") && !file.startsWith("testing"),
);
const textOf = (file: string): string => readFileSync(path.join(FOLDER, file), "utf8");

describe("the rules", () => {
  it("stay small", () => {
    const lines = files.reduce((sum, file) => sum + textOf(file).split("\n").length - 1, 0);
    expect(files.length).toBeGreaterThan(20);
    expect(files.length).toBeLessThanOrEqual(45);
    expect(lines).toBeLessThanOrEqual(4_500);
  });

  it("have folders that import in one direction", () => {
    const back = files.flatMap((file) => {
      const own = LAYERS.indexOf(path.dirname(file));
      const imported = [...textOf(file).matchAll(/ from "\.\.\/(\w+)/gu)].map(([, folder = ""]) => folder);
      return imported
        .filter((folder) => LAYERS.indexOf(folder) >= own)
        .map((folder) => `${file} → ${folder}`);
    });
    expect(back).toEqual([]);
  });

  it("call helpers that there are", () => {
    const helpers = new Set(
      [...textOf("program/helper-code.ts").matchAll(/function (\w+)/gu)].map(([, name]) => name),
    );
    const called = files.flatMap((file) =>
      [...textOf(file).matchAll(/\bcall\(\s*"([a-z]\w+)"/gu)].map(([, name]) => name),
    );
    expect(called.length).toBeGreaterThan(20);
    expect(called.filter((name) => !helpers.has(name))).toEqual([]);
  });
});
