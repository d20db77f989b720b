import { chmodSync, mkdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { CemError, Lazy } from "@cem/core";
import { findBeside, findInProjects, importFromProject, isMissing } from "@cem/core/files";
import type * as sdkModule from "microsandbox";

export type Microsandbox = typeof sdkModule;

const PACKAGE = "microsandbox";
const PRIVATE_MODE = 0o700;

/** Default folder for machines, images and logs, in this user's cache folder. */
export function defaultHome(): string {
  const cache = process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache");
  return join(cache, "cem", "microsandbox");
}

let loaded: { home: string; sdk: Lazy<Microsandbox> } | undefined;

/** Loads the SDK, once: its folder is a global setting. @throws CemError `SANDBOX_UNAVAILABLE` or `FOLDER_UNTRUSTED`. */
export function loadSdk(home: string): Promise<Microsandbox> {
  if (loaded !== undefined && loaded.home !== home) {
    const message = `microsandbox already keeps its files in ${loaded.home} in this process; ${home} needs another process.`;
    throw new CemError("SANDBOX_UNAVAILABLE", message, { details: { home, loadedHome: loaded.home } });
  }
  loaded ??= { home, sdk: new Lazy(() => load(home)) };
  return loaded.sdk.get();
}

async function load(home: string): Promise<Microsandbox> {
  mkdirSync(home, { recursive: true, mode: PRIVATE_MODE });
  chmodSync(home, PRIVATE_MODE);
  process.env["MSB_HOME"] = home;
  const sdk: Microsandbox = await import(PACKAGE).catch((cause: unknown) =>
    importFromProject(PACKAGE, cause, () => new CemError("SANDBOX_UNAVAILABLE", absence(cause), { cause })),
  );
  // Otherwise MSB_API_KEY, MSB_BACKEND or a profile may select a cloud, and code would leave this host.
  sdk.setDefaultBackend("local");
  return sdk;
}

/** @throws CemError `FOLDER_UNTRUSTED` when only a folder that is not trusted has the SDK. */
export async function installedVersion(): Promise<string | undefined> {
  const main = findBeside(PACKAGE, import.meta.url) ?? (await findInProjects(PACKAGE));
  if (main === undefined) return undefined;
  try {
    const folder = main.slice(0, main.lastIndexOf(`${PACKAGE}/`) + PACKAGE.length);
    const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { version?: unknown };
    return String(manifest.version);
  } catch {
    return undefined;
  }
}

function absence(error: unknown): string {
  const said = error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error);
  if (isMissing(PACKAGE, error)) return "The optional package microsandbox is not installed.";
  return `The package microsandbox can't be loaded on ${process.platform}-${process.arch}: ${said}`;
}
