import { existsSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

/** TypeScript's native compiler: one package for each platform, which `typescript` names as optional dependencies. */
export interface CompilerPackage {
  executable: string;
  /** The folder with TypeScript's own library, `lib.*.d.ts`. It ends with a separator. */
  libraryFolder: string;
}

/**
 * Finds the compiler for this platform. Nothing is loaded or started.
 *
 * @param from - The file or URL from which the package `typescript` is resolved.
 * @returns the compiler; or why there is none, in words that continue a sentence.
 */
export function findCompiler(from: string | URL = import.meta.url): CompilerPackage | { missing: string } {
  const platform = `${process.platform}-${process.arch}`;
  const name = `@typescript/typescript-${platform}`;
  try {
    const typescript = createRequire(from).resolve("typescript/package.json");
    const manifest = createRequire(typescript).resolve(`${name}/package.json`);
    const folder = path.dirname(realpathSync(manifest));
    const libraryFolder = path.join(folder, "lib", path.sep);
    const executable = path.join(libraryFolder, process.platform === "win32" ? "tsc.exe" : "tsc");
    if (existsSync(executable)) return { executable, libraryFolder };
  } catch {
    // Not installed.
  }
  return { missing: `TypeScript's compiler for ${platform} is not installed here (package ${name})` };
}
