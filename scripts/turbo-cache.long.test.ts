import { execFileSync } from "node:child_process";
import { appendFileSync, cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const root = path.resolve(import.meta.dirname, "..");
const TASKS = ["build", "test"] as const;
const COMMENT = "\n// A comment.\n";
/** The packages whose tests use the sample servers and skills of the repository. */
const READING_SAMPLES = [
  "@cem/cli",
  "@cem/codegen",
  "@cem/discovery",
  "@cem/docs",
  "@cem/examples",
  "@cem/mcp-server",
  "@cem/server",
  "@cem/type-check",
  "code-execution-mcp",
];

interface Package {
  name: string;
  folder: string;
  /** The packages of this repository that it names in its package.json, for whatever use. */
  needs: readonly string[];
}

/** Folders with a package each, by the patterns of pnpm-workspace.yaml. */
function packageFolders(): readonly string[] {
  const patterns = readFileSync(path.join(root, "pnpm-workspace.yaml"), "utf8").matchAll(
    /^ {2}- ([\w/*]+)$/gm,
  );
  return [...patterns].flatMap(([, pattern = ""]) =>
    pattern.endsWith("/*")
      ? readdirSync(path.join(root, pattern.slice(0, -2))).map((name) => pattern.replace("*", name))
      : [pattern],
  );
}

function readPackage(folder: string): Package {
  const { name, dependencies, devDependencies, optionalDependencies } = JSON.parse(
    readFileSync(path.join(root, folder, "package.json"), "utf8"),
  );
  const all: Record<string, string> = { ...dependencies, ...devDependencies, ...optionalDependencies };
  const needs = Object.keys(all).filter((one) => all[one]?.startsWith("workspace:"));
  return { name, folder, needs };
}

const packages = packageFolders()
  .filter((folder) => existsSync(path.join(root, folder, "package.json")))
  .map(readPackage);

/** A package and all that depend on it, directly or not. */
function withDependents(name: string): ReadonlySet<string> {
  const found = new Set([name]);
  for (const one of found) {
    for (const { name: dependent, needs } of packages) if (needs.includes(one)) found.add(dependent);
  }
  return found;
}

/** Where the tests edit. */
let copy: string;
/** The hashes after the last edit. */
let known: ReadonlyMap<string, string>;
beforeAll(() => {
  copy = mkdtempSync(path.join(os.tmpdir(), "turbo-"));
  const listed = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: root,
    encoding: "utf8",
  });
  for (const file of listed.split("\0").filter((name) => name !== "" && existsSync(path.join(root, name)))) {
    cpSync(path.join(root, file), path.join(copy, file));
  }
  execFileSync("git", ["init", "--quiet"], { cwd: copy });
  execFileSync("git", ["add", "--all"], { cwd: copy });
  known = hashes();
});
afterAll(() => rmSync(copy, { recursive: true }));

/** The hash of every task of every package. */
function hashes(): ReadonlyMap<string, string> {
  const { TURBO_HASH: _hash, ...env } = process.env;
  const output = execFileSync(
    path.join(root, "node_modules", ".bin", "turbo"),
    ["run", ...TASKS, "lint", "--dry=json", "--cwd", copy],
    { env, encoding: "utf8", maxBuffer: 64 * 1024 * 1024, stdio: ["ignore", "pipe", "ignore"] },
  );
  const { tasks } = JSON.parse(output) as { tasks: readonly { taskId: string; hash: string }[] };
  return new Map(tasks.map(({ taskId, hash }) => [taskId, hash]));
}

/** The tasks whose hash changes when a text is added to files. */
function changedBy(text: string, ...files: readonly string[]): readonly string[] {
  for (const file of files) appendFileSync(path.join(copy, file), text);
  const before = known;
  known = hashes();
  return [...known].filter(([task, hash]) => before.get(task) !== hash).map(([task]) => task);
}

/** The packages of which a task is among these. */
function packagesWith(task: string, changed: readonly string[]): readonly string[] {
  const end = `#${task}`;
  const names = changed.filter((id) => id.endsWith(end)).map((id) => id.slice(0, -end.length));
  return names.filter((name) => packages.some((one) => one.name === name)).toSorted();
}

describe("turbo's cache", () => {
  it("is not told that the root depends on a package of ours: that would be part of every hash", () => {
    expect(readPackage(".").needs).toEqual([]);
  });

  it.each(packages.filter(({ folder }) => existsSync(path.join(root, folder, "src/index.ts"))))(
    "runs $name and what depends on it again after a change of its source, and nothing else",
    ({ name, folder }) => {
      const changed = changedBy(COMMENT, `${folder}/src/index.ts`);
      const concerned = withDependents(name);
      for (const task of TASKS) {
        const expected = packagesWith(task, [...known.keys()]).filter((one) => concerned.has(one));
        expect({ task, changed: packagesWith(task, changed) }).toEqual({ task, changed: expected });
      }
      expect(changed).toContain("//#lint");
    },
  );

  it("tests the guard again when the parser that it imports changes", () => {
    expect(changedBy(COMMENT, "packages/program/src/index.ts")).toContain("@cem/guardrails#test");
  });

  it("tests only the package whose test changes, and builds nothing", () => {
    const changed = changedBy(COMMENT, "packages/program/src/parse-program.test.ts");
    expect(packagesWith("test", changed)).toEqual(["@cem/program"]);
    expect(packagesWith("build", changed)).toEqual([]);
  });

  it("builds nothing again for a README, and tests only what reads it", () => {
    const files = packages.map(({ folder }) => `${folder}/README.md`);
    const changed = changedBy("\nWords.\n", ...files.filter((file) => existsSync(path.join(copy, file))));
    expect(packagesWith("build", changed)).toEqual([]);
    expect(packagesWith("test", changed)).toEqual(["@cem/config", "@cem/docs", "@cem/tool-files"]);
  });

  it("tests what reads the sample servers again when one changes, and builds the command, which brings them", () => {
    const changed = changedBy(COMMENT, "servers/calculator/index.ts");
    expect(packagesWith("build", changed)).toEqual([
      "@cem/bench",
      "@cem/cli",
      "@cem/docs",
      "@cem/packed-check",
    ]);
    expect(packagesWith("test", changed)).toEqual(READING_SAMPLES);
  });
});
