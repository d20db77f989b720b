import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { basename } from "node:path/posix";
import { CemError, MS_PER_SECOND } from "@cem/core";
import { findDenoPackage, GUEST_RUNNER, guestBootFile } from "@cem/sandbox/provider-kit";

const KEY_CHARACTERS = 16;

/** Files that a machine needs to run programs, besides a C library. */
export type GuestRuntime = ReturnType<typeof findGuestRuntime>;

export const GUEST_DENO = `${GUEST_RUNNER}/deno`;
export const guestBootPath = ({ bootName }: GuestRuntime): string => `${GUEST_RUNNER}/guest/${bootName}`;

/** Finds Deno for Linux on this processor, by default the one that npm installed. @throws CemError `SANDBOX_UNAVAILABLE`. */
export function findGuestRuntime(denoPath?: string) {
  const denoFile = denoPath ?? findLinuxDeno();
  const found = statSync(denoFile, { throwIfNoEntry: false });
  if (found === undefined)
    throw new CemError("SANDBOX_UNAVAILABLE", `There is no Deno at denoPath ${denoFile}.`, {
      details: { denoFile },
    });
  /** The folder of the guest runner on the host, and the name of its entry file. */
  const [runnerDir, bootName] = [dirname(guestBootFile), basename(guestBootFile)];
  const hash = createHash("sha256").update(`${found.size} ${Math.floor(found.mtimeMs / MS_PER_SECOND)}`);
  for (const { name, data } of runnerFiles(runnerDir)) hash.update(name).update(data);
  return { key: hash.digest("hex").slice(0, KEY_CHARACTERS), denoFile, runnerDir, bootName };
}

function findLinuxDeno(): string {
  const { name, file } = findDenoPackage(import.meta.url, "linux");
  if (file !== undefined) return file;
  throw new CemError(
    "SANDBOX_UNAVAILABLE",
    `The guest's runtime is missing: the optional package ${name} is not installed. Install it (npm install --force ${name} where this is not Linux), or set denoPath to a Deno 2.9 binary for Linux.`,
    { details: { package: name } },
  );
}

/** Reads the guest runner's files, in a stable order. Their names are relative to its folder, with slashes. */
export function runnerFiles(runnerDir: string): { name: string; data: Buffer }[] {
  return readdirSync(runnerDir, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(?:js|ts)$/.test(name) && !name.endsWith(".test.ts"))
    .toSorted()
    .map((name) => ({ name: name.replaceAll("\\", "/"), data: readFileSync(join(runnerDir, name)) }));
}

/** Copies the runtime, once, to a folder that machines with other images mount. */
export function stageRuntime(home: string, runtime: GuestRuntime): string {
  const folder = join(home, `runtime-${runtime.key}`);
  if (existsSync(folder)) return folder;
  mkdirSync(home, { recursive: true });
  const making = mkdtempSync(join(home, "making-"));
  cpSync(runtime.denoFile, join(making, "deno"));
  for (const { name, data } of runnerFiles(runtime.runnerDir)) {
    const file = join(making, "guest", name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, data);
  }
  try {
    renameSync(making, folder);
  } catch (error) {
    // Another process has created it meanwhile.
    if (!existsSync(folder)) throw error;
  }
  return folder;
}
