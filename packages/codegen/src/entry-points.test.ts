import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";

const SOURCES = import.meta.dirname;
/** Static and type-only imports and re-exports, and dynamic imports. */
const SPECIFIER = /^(?:import|export|\}).*? from "([^"\n]+)";$|\bawait import\("([^"\n]+)"\)/gmu;

/** The files and packages that an entry point imports, directly or through others. Files are relative to `src`. */
function importsOf(entry: string): { files: string[]; packages: string[] } {
  const files = new Set<string>();
  const packages = new Set<string>();
  const pending = [path.join(SOURCES, entry)];
  for (let file = pending.pop(); file !== undefined; file = pending.pop()) {
    if (files.has(file)) continue;
    files.add(file);
    for (const [, imported, loaded] of readFileSync(file, "utf8").matchAll(SPECIFIER)) {
      const specifier = imported ?? loaded ?? "";
      if (specifier.startsWith(".")) pending.push(path.resolve(path.dirname(file), specifier));
      else packages.add(specifier);
    }
  }
  return {
    files: [...files].map((file) => path.relative(SOURCES, file)),
    packages: [...packages].toSorted(),
  };
}

describe("@cem/codegen/rules", () => {
  const { files, packages } = importsOf("rules/index.ts");

  it("needs neither a client of a model nor a tokenizer", () => {
    expect(packages).toEqual(["@cem/core", "@cem/core/text", "chrono-node/en"]);
  });

  it("imports nothing of ./llm", () => {
    expect(files.length).toBeGreaterThan(30);
    expect(files.filter((file) => !file.startsWith("rules/"))).toEqual([]);
  });
});

describe("@cem/codegen/llm", () => {
  const { files, packages } = importsOf("llm/index.ts");

  it("finds the packages that it loads when they are needed", () => {
    expect(packages).toContain("openai");
  });

  it("imports nothing of ./rules", () => {
    expect(files.length).toBeGreaterThan(7);
    // The prompts are beside both `src` and `dist`, so what reads them is as deep in the one as in the other.
    expect(files.filter((file) => !file.startsWith("llm/"))).toEqual(["prompt-files.ts"]);
  });
});
