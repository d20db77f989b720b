import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { dirname } from "node:path";

/** The cached outcome of a test boot on this machine. */
export interface CachedProbe {
  /** The machine, its boot, the user and the versions that it is valid for. */
  key: string;
  booted: boolean;
  /** Why it did not boot. */
  reason?: string | undefined;
}

function read(path: string): string {
  return existsSync(path) ? readFileSync(path, "utf8").trim() : "";
}

/** The cache key of a probe: the machine, its boot, the user and the versions. */
export function probeKey(version: string, runtimeKey: string): string {
  const machine = read("/etc/machine-id") || hostname();
  const boot = read("/proc/sys/kernel/random/boot_id");
  return [machine, boot, process.getuid?.() ?? "", version, runtimeKey].join(" ");
}

/** Reads the cached outcome; `undefined` when there is none for this key. */
export function readCachedProbe(file: string, key: string): CachedProbe | undefined {
  try {
    const { key: known, booted, reason } = JSON.parse(readFileSync(file, "utf8")) as Partial<CachedProbe>;
    if (known !== key || typeof booted !== "boolean") return undefined;
    return { key, booted, reason: typeof reason === "string" ? reason : undefined };
  } catch {
    return undefined;
  }
}

/** Writes the outcome to the cache. */
export function cacheProbe(file: string, probe: CachedProbe): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(probe)}\n`);
}
