import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const root = path.resolve(import.meta.dirname, "..");
const oxlint = path.join(root, "node_modules", ".bin", "oxlint");
const RULE = "import(no-cycle)";

/** What the project's lint settings find: the import that is part of a cycle, by file and line. */
async function cyclesIn(folder: string, ...within: string[]): Promise<string[]> {
  const args = ["--config", path.join(root, ".oxlintrc.json"), "--format=unix", ...within];
  const { stdout } = await promisify(execFile)(oxlint, args, { cwd: folder }).catch(
    (error: { stdout: string }) => error,
  );
  return stdout.split("\n").filter((line) => line.includes(RULE));
}

describe("imports between the files of a package", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), "cem-cycle-"));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it("form no cycle, type-only imports included", async () => {
    expect(await cyclesIn(root, "packages", "apps", "scripts", "examples")).toEqual([]);
  });

  it("are looked at so that a cycle of type-only imports is found", async () => {
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
