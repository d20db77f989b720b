import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

/** Raised whenever the same code may be judged differently by the same versions of the packages. */
const RULES = 1;

/** What a verdict hangs on beside code and tools. TypeScript itself is not loaded to ask it. */
export const CHECKER_VERSION: string = [
  RULES,
  versionOf(new URL("../package.json", import.meta.url)),
  versionOf(createRequire(import.meta.url).resolve("typescript/package.json")),
].join(" ");

function versionOf(file: URL | string): string {
  const { version } = JSON.parse(readFileSync(file, "utf8")) as { version: string };
  return version;
}
