import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { describe } from "vitest";

const DEBIAN_POSTGRESQL = "/usr/lib/postgresql";

/** Programs beyond Node that some tests use, by their Debian package, each with a check whether it runs here. */
const CHECKS = {
  bubblewrap: () => process.platform === "linux" && runs("bwrap"),
  chromium: () => runs(process.env["CHROMIUM_PATH"] ?? "chromium"),
  postgresql: () => findPostgresql() !== undefined,
  "redis-server": () => runs("redis-server") || runs("valkey-server"),
};

/** A program beyond Node that a test needs. */
export type Tool = keyof typeof CHECKS;

const found = new Map<Tool, boolean>();

/** Whether a program that tests need runs on this machine. `npm test` tries Node alone, and so the same on each. */
export function isInstalled(tool: Tool): boolean {
  if (process.env["CEM_TEST_TOOLS"] === "none") return false;
  const known = found.get(tool) ?? CHECKS[tool]();
  found.set(tool, known);
  return known;
}

/** `describe` for tests that need programs: where one is missing they are skipped under a name that says so. */
export function describeWith(...tools: readonly Tool[]): typeof describe {
  const missing = tools.filter((tool) => !isInstalled(tool));
  if (missing.length === 0) return describe;
  const skip = describe.skip as (...args: unknown[]) => unknown;
  return ((name: string, ...rest: unknown[]) =>
    skip(`${name} (needs ${missing.join(", ")})`, ...rest)) as typeof describe;
}

/** The folder of the newest PostgreSQL server's programs, as Debian lays them out. */
export function findPostgresql(): string | undefined {
  if (!existsSync(DEBIAN_POSTGRESQL)) return undefined;
  return readdirSync(DEBIAN_POSTGRESQL)
    .toSorted((a, b) => Number(b) - Number(a))
    .map((version) => path.join(DEBIAN_POSTGRESQL, version, "bin"))
    .find((folder) => runs(path.join(folder, "initdb")));
}

function runs(program: string): boolean {
  return spawnSync(program, ["--version"], { stdio: "ignore" }).status === 0;
}
