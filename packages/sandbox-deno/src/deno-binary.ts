import { accessSync, constants, existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, isAbsolute, join } from "node:path";
import { CemError } from "@cem/core";

/** The npm package that holds this platform's Deno binary. */
function platformPackage(): string {
  const { platform, arch } = process;
  const library = platform === "linux" ? "-glibc" : "";
  return `@deno/${platform}-${arch}${library}`;
}

function unavailable(message: string): CemError {
  return new CemError("SANDBOX_UNAVAILABLE", message, {
    details: { platform: process.platform, arch: process.arch },
  });
}

/**
 * Finds the Deno binary to spawn.
 *
 * @param denoPath - Absolute path; `undefined` for the binary that npm installed for this platform.
 * @throws CemError `SANDBOX_UNAVAILABLE` when there is none.
 */
export function findDeno(denoPath: string | undefined): string {
  if (denoPath !== undefined) {
    if (!isAbsolute(denoPath)) throw unavailable(`denoPath has to be absolute; it is "${denoPath}".`);
    try {
      accessSync(denoPath, constants.X_OK);
    } catch {
      throw unavailable(`denoPath ${denoPath} is not an executable file.`);
    }
    return denoPath;
  }
  const name = platformPackage();
  try {
    const folder = dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));
    const binary = join(folder, process.platform === "win32" ? "deno.exe" : "deno");
    if (existsSync(binary)) return binary;
  } catch {
    // Not installed: reported below.
  }
  throw unavailable(
    `The Deno binary for this platform is missing: the optional package ${name} is not installed. Install it, or set denoPath to a Deno 2.9 binary.`,
  );
}
