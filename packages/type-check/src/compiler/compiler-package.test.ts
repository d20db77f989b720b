import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { findCompiler } from "./compiler-process.ts";

const folder = mkdtempSync(path.join(os.tmpdir(), "cem-compiler-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("findCompiler", () => {
  afterEach(() => vi.unstubAllGlobals());

  function runOn(platform: string, arch: string): void {
    vi.stubGlobal(
      "process",
      Object.create(process, { platform: { value: platform }, arch: { value: arch } }),
    );
  }

  function install(name: string, files: readonly string[]): void {
    const target = path.join(folder, "node_modules", name);
    mkdirSync(path.join(target, "lib"), { recursive: true });
    writeFileSync(path.join(target, "package.json"), JSON.stringify({ name }));
    for (const file of files) writeFileSync(path.join(target, "lib", file), "");
  }

  it("finds the one that is installed for this platform", () => {
    expect(findCompiler()).toEqual({
      executable: expect.stringMatching(/[\\/]lib[\\/]tsc(?:\.exe)?$/),
      libraryFolder: expect.stringMatching(/[\\/]lib[\\/]$/),
    });
  });

  it("says which package is missing", () => {
    runOn("plan9", "z80");
    const name = "@typescript/typescript-plan9-z80";
    const missing = `TypeScript's compiler for plan9-z80 is not installed here (package ${name})`;
    expect(findCompiler()).toEqual({ missing });
    // The package is there, and what it is for is not.
    install("typescript", []);
    install(name, []);
    const from = path.join(folder, "index.js");
    expect(findCompiler(from)).toEqual({ missing });
    install(name, ["tsc"]);
    expect(findCompiler(from)).toMatchObject({
      executable: path.join(folder, "node_modules", name, "lib/tsc"),
    });
  });

  it("takes the program of Windows there", () => {
    runOn("win32", "z80");
    install("typescript", []);
    install("@typescript/typescript-win32-z80", ["tsc", "tsc.exe"]);
    const found = findCompiler(path.join(folder, "index.js"));
    expect(found).toMatchObject({ executable: expect.stringMatching(/tsc\.exe$/) });
  });
});
