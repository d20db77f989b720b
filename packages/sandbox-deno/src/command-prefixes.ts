import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { findProgram } from "@cem/core/files";

/** Confines a guest that runs as root. */
export interface RootConfinement {
  /** Builds the prefix of the command, for these read-only files and folders. Empty when nothing can be confined. */
  prefix: (readOnly: readonly string[]) => string[];
  /** The protections it adds, for display: `dropped capabilities`. */
  mechanisms: readonly string[];
}

const KERNEL_FOLDERS = ["/proc", "/sys"] as const;
/** Without these two, root could not read files of other users. File access is left to Deno's permissions. */
const KEPT_CAPABILITIES = ["dac_override", "dac_read_search"] as const;
const PROBE_TIMEOUT_MS = 5_000;

/**
 * `READ_ONLY … -- COMMAND …`. A file's owner can change its mode through a read-only descriptor without any check by
 * Deno. Each file system below the kernel's folders is a separate mount: cgroup hierarchies, binfmt_misc, debugfs.
 */
const REMOUNT = `while [ "$1" != -- ]; do mount -o rbind,ro -- "$1" "$1" || exit 1; shift; done
shift
while read -r _ _ _ _ place _; do
case "$place" in ${KERNEL_FOLDERS.map((folder) => `${folder}|${folder}/*`).join("|")}) mount -o remount,bind,ro "$place" || exit 1;; esac
done < /proc/self/mountinfo
exec "$@"`;

const UNCONFINED: RootConfinement = { prefix: () => [], mechanisms: [] };
let confinement: RootConfinement | undefined;

/**
 * Removes what a guest that runs as root could do to the kernel without any check by Deno: drops its capabilities, and
 * makes `/proc`, `/sys` and read-only mounts read-only in a mount namespace. Each is tried once per process; those that
 * the host does not allow are left out.
 */
export function confineRoot(): RootConfinement {
  confinement ??= process.platform === "linux" && process.getuid?.() === 0 ? tryConfinement() : UNCONFINED;
  return confinement;
}

function tryConfinement(): RootConfinement {
  const [setpriv, unshare, shell] = ["setpriv", "unshare", "sh"].map(findProgram);
  const steps: RootConfinement[] = [];
  if (unshare !== undefined && shell !== undefined && canWriteKernelFiles()) {
    const start = [unshare, "--mount", "--propagation", "private", "--", shell, "-c", REMOUNT, "sh"];
    steps.push({
      prefix: (readOnly) => [...start, ...readOnly, "--"],
      mechanisms: ["read-only /proc, /sys and mounts"],
    });
  }
  if (setpriv !== undefined) {
    const kept = KEPT_CAPABILITIES.map((name) => `+${name}`).join(",");
    const prefix = [setpriv, `--bounding-set=-all,${kept}`, "--inh-caps=-all", "--ambient-caps=-all", "--"];
    steps.push({ prefix: () => prefix, mechanisms: ["dropped capabilities"] });
  }
  const working = steps.filter(({ prefix }) => works(prefix([])));
  return {
    prefix: (readOnly) => working.flatMap(({ prefix }) => prefix(readOnly)),
    mechanisms: working.flatMap(({ mechanisms }) => mechanisms),
  };
}

function canWriteKernelFiles(): boolean {
  try {
    accessSync("/proc/sys/kernel/core_pattern", constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function works([file = "", ...args]: readonly string[]): boolean {
  const done = spawnSync(file, [...args, findProgram("true") ?? "true"], {
    stdio: "ignore",
    timeout: PROBE_TIMEOUT_MS,
  });
  return done.status === 0;
}

const BYTES_PER_MIB = 1024 * 1024;
/** Address space that V8 reserves for an empty program and one worker. */
const RUNTIME_DATA_MB = 1_152;
const OPEN_FILES = 256;

/** Builds the `prlimit … --` prefix of a command; empty where prlimit is not installed. */
export function resourceLimitPrefix(limits: { memoryMb: number; writeMb: number }): string[] {
  const prlimit = findProgram("prlimit");
  if (prlimit === undefined) return [];
  const data = Math.ceil(limits.memoryMb + RUNTIME_DATA_MB) * BYTES_PER_MIB;
  const file = Math.ceil(limits.writeMb) * BYTES_PER_MIB;
  return [prlimit, "--core=0", `--nofile=${OPEN_FILES}`, `--data=${data}`, `--fsize=${file}`, "--"];
}
