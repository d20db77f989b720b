import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

/** To be raised when the same code may get other findings with the same versions of the packages. */
const RULES_VERSION = 2;

/** The versions that a finding depends on. It is read without loading TypeScript. */
export const CHECKER_VERSION: string = [
  RULES_VERSION,
  versionOf(new URL("../package.json", import.meta.url)),
  versionOf(createRequire(import.meta.url).resolve("typescript/package.json")),
].join(" ");

function versionOf(file: URL | string): string {
  const { version } = JSON.parse(readFileSync(file, "utf8")) as { version: string };
  return version;
}
