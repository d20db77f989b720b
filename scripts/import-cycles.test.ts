import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { preProcessFile } from "typescript";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const root = path.resolve(import.meta.dirname, "..");
const oxlint = path.join(root, "node_modules", ".bin", "oxlint");
const RULE = "import(no-cycle)";

/** The imports that are part of a cycle by the project's lint settings, with file and line. */
async function cyclesIn(folder: string): Promise<string[]> {
  const args = ["--config", path.join(root, ".oxlintrc.json"), "--format=unix"];
  const { stdout } = await promisify(execFile)(oxlint, args, { cwd: folder }).catch(
    (error: { stdout: string }) => error,
  );
  return stdout.split("\n").filter((line) => line.includes(RULE));
}

/** The files that a file imports by a relative path: statically, as types, or by `import()`. */
function importsOf(file: string): string[] {
  const { importedFiles } = preProcessFile(readFileSync(file, "utf8"), true, true);
  return importedFiles
    .filter(({ fileName }) => fileName.startsWith("."))
    .map(({ fileName }) => path.resolve(path.dirname(file), fileName));
}

/** The cycles among files, dynamic imports included: one for each import that closes one. */
function allCyclesIn(files: readonly string[]): string[] {
  const known = new Set(files);
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (file: string, above: readonly string[]): void => {
    const at = above.indexOf(file);
    if (at !== -1) cycles.push([...above.slice(at), file].map((one) => path.relative(root, one)).join(" > "));
    if (at !== -1 || done.has(file)) return;
    for (const next of importsOf(file)) if (known.has(next)) visit(next, [...above, file]);
    done.add(file);
  };
  for (const file of files) visit(file, []);
  return cycles;
}

function typescriptIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !/(?:^|\/)(?:node_modules|dist)\//u.test(file))
    .map((file) => path.join(folder, file));
}

describe("imports between the files of a package", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), "cem-cycle-"));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it("form no cycle, dynamic imports included", () => {
    const sources = ["packages", "apps"].flatMap((group) =>
      readdirSync(path.join(root, group)).map((name) => path.join(root, group, name, "src")),
    );
    expect(allCyclesIn(sources.flatMap(typescriptIn))).toEqual([]);
  });

  it("are looked at so that a cycle of a dynamic import is found", async () => {
    const [here, there] = ["here.ts", "there.ts"].map((name) => path.join(folder, name)) as [string, string];
    await writeFile(here, 'export const next = () => import("./there.ts");\n');
    await writeFile(there, 'import { next } from "./here.ts";\nexport const other = next;\n');
    expect(allCyclesIn([here, there])).toHaveLength(1);
  });

  it("are looked at by the lint, so that a cycle of type-only imports is found", async () => {
    await writeFile(
      path.join(folder, "one.ts"),
      'import type { B } from "./two.ts";\nexport type A = B[];\n',
    );
    await writeFile(
      path.join(folder, "two.ts"),
      'import type { A } from "./one.ts";\nexport type B = A | 1;\n',
    );
    expect(await cyclesIn(folder)).toHaveLength(2);
  });
});
