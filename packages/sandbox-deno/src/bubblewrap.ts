import { basename, dirname } from "node:path/posix";
import { GUEST_WORKSPACE } from "@cem/core";
import { findProgram } from "@cem/core/files";
import {
  GUEST_RUNNER,
  guestEnvironment,
  namespacedDenoArguments,
  NETWORK_FILES,
  systemLibraries,
} from "@cem/sandbox/provider-kit";
import { hiddenPlaces, namespacedPermissions, placedInitOf, placeMounts } from "./guest-plan.ts";
import type { BackendProbe, GuestPlan, IsolationBackend, SpawnPlan } from "./guest-plan.ts";
import { resourceLimitPrefix } from "./command-prefixes.ts";
import { seccompFilterFile } from "./seccomp.ts";

const TEMPORARY_BYTES = 64 * 1024 * 1024;

/** Probes for bubblewrap: namespaces, a seccomp filter, rlimits and Deno's permissions. */
export function findBubblewrap(): BackendProbe {
  const bwrap = findProgram("bwrap");
  if (process.platform !== "linux") return { ok: false, reason: "bubblewrap is for Linux only" };
  if (bwrap === undefined) return { ok: false, reason: "bubblewrap is not installed" };
  if (process.arch !== "x64" && process.arch !== "arm64")
    return { ok: false, reason: `there is no seccomp filter for ${process.arch}` };
  const rlimits = findProgram("prlimit") === undefined ? [] : ["rlimits"];
  const backend: IsolationBackend = {
    name: "bubblewrap",
    level: "namespaces",
    mechanisms: ["bubblewrap", "seccomp", ...rlimits, "deno permissions"],
    plan: (plan) => planBubblewrap(bwrap, plan),
  };
  return { ok: true, backend };
}

function planBubblewrap(bwrap: string, plan: GuestPlan): SpawnPlan {
  const { workspaceDir, network, denoFile, bootFile, privateDir } = plan;
  const guestBoot = `${GUEST_RUNNER}/guest/${basename(bootFile)}`;
  const mounts = placeMounts(plan);
  const shared = network === "none" ? [] : ["--share-net"];
  const system = [...systemLibraries(network !== "none"), ...(network === "none" ? [] : NETWORK_FILES)];
  const [file = bwrap, ...args] = [
    ...resourceLimitPrefix(plan),
    bwrap,
    "--unshare-all",
    ...shared,
    "--die-with-parent",
    "--new-session",
    "--cap-drop",
    "ALL",
    "--seccomp",
    "3",
    ...system.flatMap((path) => ["--ro-bind-try", path, path]),
    "--ro-bind",
    denoFile,
    `${GUEST_RUNNER}/deno`,
    "--ro-bind",
    dirname(bootFile),
    `${GUEST_RUNNER}/guest`,
    "--proc",
    "/proc",
    // A guest that runs as root owns /proc/sys and the like, with or without capabilities.
    "--remount-ro",
    "/proc",
    "--dev",
    "/dev",
    "--size",
    `${TEMPORARY_BYTES}`,
    "--tmpfs",
    "/tmp",
    "--bind",
    workspaceDir,
    GUEST_WORKSPACE,
    ...mounts.flatMap(({ hostPath, place, readOnly }) => [
      readOnly ? "--ro-bind" : "--bind",
      hostPath,
      place,
    ]),
    ...hiddenPlaces(plan).flatMap((place) => ["--ro-bind", "/dev/null", place]),
    "--remount-ro",
    "/",
    "--chdir",
    GUEST_WORKSPACE,
    "--",
    `${GUEST_RUNNER}/deno`,
    ...namespacedDenoArguments(namespacedPermissions(plan), guestBoot),
  ];
  return {
    file,
    args,
    env: guestEnvironment("/tmp/deno"),
    cwd: "/",
    init: { ...placedInitOf(plan), hasFilter: true },
    descriptorFile: seccompFilterFile(privateDir, network),
  };
}
