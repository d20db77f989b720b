import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { arch, hostname, platform } from "node:os";
import { dirname } from "node:path";
import { textOfFile } from "@cem/core/files";

const OTHER_SANDBOX = "or use the Deno sandbox.";

export type VirtualizationSigns = ReturnType<typeof readSigns>;

export function readSigns() {
  /** Error code of opening /dev/kvm; `undefined` when it opened. */
  let kvmError: string | undefined;
  let cpuInfo = "";
  if (platform() === "linux") {
    try {
      closeSync(openSync("/dev/kvm", "r+"));
    } catch (error) {
      kvmError = (error as NodeJS.ErrnoException).code ?? "EIO";
    }
    cpuInfo = readFileSync("/proc/cpuinfo", "utf8");
  }
  return { platform: platform() as string, arch: arch() as string, kvmError, cpuInfo };
}

/** Finds an obstacle to microVMs that is detectable without booting one; `undefined` when there is none. */
export function findObstacle(signs: VirtualizationSigns): { reason: string; hint: string } | undefined {
  if (signs.platform !== "linux") {
    if (signs.platform === "darwin" && signs.arch !== "arm64")
      return {
        reason: "microsandbox runs on Macs with Apple silicon only.",
        hint: `Use such a Mac or Linux with KVM, ${OTHER_SANDBOX}`,
      };
    return undefined;
  }
  const exposed = signs.arch !== "x64" || /^flags\s*:.*\b(?:vmx|svm)\b/m.test(signs.cpuInfo);
  if (signs.kvmError === "EACCES" || signs.kvmError === "EPERM")
    return {
      reason: "/dev/kvm is there, but this user may not open it.",
      hint: `Add the user to the group kvm (sudo usermod -aG kvm "$USER", then log in again), ${OTHER_SANDBOX}`,
    };
  const hint = `Run on a machine whose processor's virtualization is switched on (for a virtual machine or a cloud instance: nested virtualization, or a metal instance), ${OTHER_SANDBOX}`;
  if (signs.kvmError !== undefined) {
    const why = exposed ? "KVM is not loaded" : "the processor's virtualization is not exposed";
    return { reason: `There is no /dev/kvm that opens (${signs.kvmError}): ${why}.`, hint };
  }
  if (exposed) return undefined;
  return { reason: "/dev/kvm opens, but the processor's virtualization is not exposed.", hint };
}

/** The cached outcome of a test boot on this machine. */
export interface CachedProbe {
  /** The machine, its boot, the user and the versions that it is valid for. */
  key: string;
  booted: boolean;
  reason?: string | undefined;
}

export function probeKey(version: string, runtimeKey: string): string {
  const machine = textOfFile("/etc/machine-id")?.trim() || hostname();
  const boot = textOfFile("/proc/sys/kernel/random/boot_id")?.trim() ?? "";
  return [machine, boot, process.getuid?.() ?? "", version, runtimeKey].join(" ");
}

export function readCachedProbe(file: string, key: string): CachedProbe | undefined {
  try {
    const { key: known, booted, reason } = JSON.parse(readFileSync(file, "utf8")) as Partial<CachedProbe>;
    if (known !== key || typeof booted !== "boolean") return undefined;
    return { key, booted, reason: typeof reason === "string" ? reason : undefined };
  } catch {
    return undefined;
  }
}

export function cacheProbe(file: string, probe: CachedProbe): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(probe)}\n`);
}
