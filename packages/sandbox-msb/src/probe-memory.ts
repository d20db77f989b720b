import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { dirname } from "node:path";

/** What a boot on this machine came to. */
export interface RememberedProbe {
  /** Machine, its boot, user and versions that it holds for. */
  key: string;
  booted: boolean;
  /** Why it did not boot. */
  reason?: string | undefined;
}

function read(path: string): string {
  return existsSync(path) ? readFileSync(path, "utf8").trim() : "";
}

/** What a probe's outcome depends on: another machine, boot, user or version is probed anew. */
export function probeKey(version: string, runtimeKey: string): string {
  const machine = read("/etc/machine-id") || hostname();
  const boot = read("/proc/sys/kernel/random/boot_id");
  return [machine, boot, process.getuid?.() ?? "", version, runtimeKey].join(" ");
}

export function recallProbe(file: string, key: string): RememberedProbe | undefined {
  try {
    const { key: known, booted, reason } = JSON.parse(readFileSync(file, "utf8")) as Partial<RememberedProbe>;
    if (known !== key || typeof booted !== "boolean") return undefined;
    return { key, booted, ...(typeof reason === "string" ? { reason } : {}) };
  } catch {
    return undefined;
  }
}

export function rememberProbe(file: string, probe: RememberedProbe): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(probe)}\n`);
}
