// The support of this host for microVMs.
import { spawnSync } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";

export function hasVirtualization() {
  if (process.platform !== "linux") return process.platform === "darwin" && process.arch === "arm64";
  try {
    closeSync(openSync("/dev/kvm", "r+"));
  } catch {
    return false;
  }
  return process.arch !== "x64" || /^flags\s*:.*\b(?:vmx|svm)\b/m.test(readFileSync("/proc/cpuinfo", "utf8"));
}

export function hasProgram(name) {
  return spawnSync("sh", ["-c", `command -v ${name}`], { stdio: "ignore" }).status === 0;
}

/** Why QEMU can't take its place, as the end of a sentence; undefined when it can. */
export function missingForEmulation() {
  if (process.platform !== "linux" || process.arch !== "x64") return "QEMU's stand-in needs Linux on x64";
  if (!hasProgram("apt-get")) return "QEMU's stand-in is built from Debian packages, which need apt-get";
  if (process.getuid() !== 0) return "building QEMU's stand-in from Debian packages needs root";
  return undefined;
}
