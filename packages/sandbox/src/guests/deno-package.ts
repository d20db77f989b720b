import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/**
 * Finds the Deno binary that npm installed for a platform and this processor.
 *
 * @param from - URL of a module of the package that depends on it.
 * @returns the name of its package; and the binary, if it is installed.
 */
export function findDenoPackage(from: string, platform: string = process.platform) {
  const name = `@deno/${platform}-${process.arch}${platform === "linux" ? "-glibc" : ""}`;
  const binary = platform === "win32" ? "deno.exe" : "deno";
  try {
    const file = join(dirname(createRequire(from).resolve(`${name}/package.json`)), binary);
    if (existsSync(file)) return { name, file };
  } catch {
    // Not installed.
  }
  return { name, file: undefined };
}
