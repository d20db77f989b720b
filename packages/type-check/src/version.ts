import { readFileSync } from "node:fs";

/** To be raised when the same code may get other findings with the same versions of the packages. */
const RULES_VERSION = 4;

interface Manifest {
  version: string;
  dependencies: { typescript: string };
}

/** The versions that a finding depends on: of the rules, of this package and of TypeScript, whose version is pinned. */
export const CHECKER_VERSION: string = checkerVersion();

function checkerVersion(): string {
  const text = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  const { version, dependencies } = JSON.parse(text) as Manifest;
  return [RULES_VERSION, version, dependencies.typescript].join(" ");
}
