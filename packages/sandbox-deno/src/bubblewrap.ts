import { join } from "node:path";
import { basename, dirname } from "node:path/posix";
import { denoArguments } from "./deno-arguments.ts";
import { GUEST_RUNNER, GUEST_WORKSPACE, type GuestPlan } from "./guest-plan.ts";
import { findProgram } from "./host-tools.ts";
import type { Realisation, RealisationFound, SpawnPlan } from "./realisation.ts";
import { resourceLimitPrefix } from "./resource-limits.ts";
import { seccompFilterFile } from "./seccomp-file.ts";
import { systemLibraries } from "./system-libraries.ts";

const TEMPORARY_BYTES = 64 * 1024 * 1024;
/** What name lookups and TLS need of the host. */
const NETWORK_FILES = ["/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/ssl", "/etc/pki", "/etc/ca-certificates", "/usr/share/ca-certificates"];

/** bubblewrap with namespaces of its own, a seccomp filter, rlimits and Deno's permissions. */
export function findBubblewrap(): RealisationFound {
  const bwrap = findProgram("bwrap");
  if (process.platform !== "linux") return { ok: false, reason: "bubblewrap is for Linux only" };
  if (bwrap === undefined) return { ok: false, reason: "bubblewrap is not installed" };
  if (process.arch !== "x64" && process.arch !== "arm64") {
    return { ok: false, reason: `there is no seccomp filter for ${process.arch}` };
  }
  const rlimits = findProgram("prlimit") === undefined ? [] : ["rlimits"];
  const realisation: Realisation = {
    name: "bubblewrap",
    level: "namespaces",
    mechanisms: ["bubblewrap", "seccomp", ...rlimits, "deno permissions"],
    plan: (plan) => planBubblewrap(bwrap, plan),
  };
  return { ok: true, realisation };
}

function planBubblewrap(bwrap: string, plan: GuestPlan): SpawnPlan {
  const { workspaceDir, mounts, network, denoFile, bootFile, privateDir } = plan;
  const guestBoot = `${GUEST_RUNNER}/guest/${basename(bootFile)}`;
  const importMapFile = `${GUEST_RUNNER}/import-map.json`;
  const shared = network === "none" ? [] : ["--share-net"];
  const system = [...systemLibraries(), ...(network === "none" ? [] : NETWORK_FILES)];
  const [file = bwrap, ...args] = [
    ...resourceLimitPrefix(plan),
    bwrap,
    "--unshare-all",
    ...shared,
    "--die-with-parent",
    "--new-session",
    ...["--cap-drop", "ALL"],
    ...["--seccomp", "3"],
    ...system.flatMap((path) => ["--ro-bind-try", path, path]),
    ...["--ro-bind", denoFile, `${GUEST_RUNNER}/deno`],
    ...["--ro-bind", dirname(bootFile), `${GUEST_RUNNER}/guest`],
    ...["--ro-bind", join(privateDir, "import-map.json"), importMapFile],
    ...["--proc", "/proc"],
    ...["--dev", "/dev"],
    ...["--size", `${TEMPORARY_BYTES}`, "--tmpfs", "/tmp"],
    ...["--bind", workspaceDir, GUEST_WORKSPACE],
    ...mounts.flatMap(({ hostPath, guestPath, readOnly }) => [
      readOnly ? "--ro-bind" : "--bind",
      hostPath,
      guestPath,
    ]),
    ...["--chdir", GUEST_WORKSPACE],
    ...["--", `${GUEST_RUNNER}/deno`],
    ...namespacedDenoArguments(plan, guestBoot, importMapFile),
  ];
  return {
    file,
    args,
    env: guestEnvironment("/tmp/deno"),
    cwd: "/",
    descriptorFile: seccompFilterFile(privateDir, network !== "none"),
  };
}

/** Deno's arguments where the guest has a file system view of its own. */
export function namespacedDenoArguments(plan: GuestPlan, bootFile: string, importMapFile: string): string[] {
  const { mounts, network, memoryMb } = plan;
  const paths = mounts.map(({ guestPath }) => guestPath);
  const readOnly = mounts.filter((mount) => mount.readOnly).map(({ guestPath }) => guestPath);
  return denoArguments({
    bootFile,
    importMapFile,
    read: [GUEST_WORKSPACE, ...paths],
    write: [GUEST_WORKSPACE, ...paths.filter((path) => !readOnly.includes(path))],
    denyWrite: readOnly,
    network,
    memoryMb,
  });
}

/** The whole environment of a guest. */
export function guestEnvironment(denoDir: string): Record<string, string> {
  return { DENO_DIR: denoDir, DENO_NO_UPDATE_CHECK: "1", NO_COLOR: "1", HOME: "/nonexistent" };
}
