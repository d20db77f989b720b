import { mkdtempSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { deathSignalPrefix, findProgram } from "@cem/core/files";
import { denoArguments, GUEST_RUNNER, guestEnvironment } from "@cem/sandbox/provider-kit";
import { coveredFolders, guestPaths, toHostPath } from "./guest-plan.ts";
import type { GuestPlan, IsolationBackend, SpawnPlan } from "./guest-plan.ts";
import { confineRoot, resourceLimitPrefix } from "./command-prefixes.ts";

/** The backend without kernel isolation: Deno's permissions and rlimits. */
export function permissionsOnly(): IsolationBackend {
  const onLinux = process.platform === "linux";
  const rlimits = onLinux && findProgram("prlimit") !== undefined ? ["rlimits"] : [];
  return {
    name: "permissions",
    level: "permissions",
    // Evaluated only when this backend is used.
    get mechanisms() {
      return ["deno permissions", ...rlimits, ...confineRoot().mechanisms];
    },
    plan: planPermissions,
  };
}

function planPermissions(plan: GuestPlan): SpawnPlan {
  const { workspaceDir, mounts, hidden, network, denoFile, bootFile, privateDir, memoryMb } = plan;
  const folders = mounts.map(({ hostPath }) => hostPath);
  const readOnly = mounts.filter((mount) => mount.readOnly).map(({ hostPath }) => hostPath);
  const [file = denoFile, ...args] = [
    ...confineRoot().prefix(readOnly),
    ...(deathSignalPrefix("--no-new-privs") ?? []),
    ...(process.platform === "linux" ? resourceLimitPrefix(plan) : []),
    denoFile,
    ...denoArguments({
      bootFile,
      read: [workspaceDir, ...folders],
      write: [workspaceDir, ...folders.filter((path) => !readOnly.includes(path))],
      denyRead: hidden.map((file) => toHostPath(plan, file)),
      denyWrite: [...readOnly, ...coveredFolders(plan).map((folder) => workspaceDir + folder)],
      network,
      memoryMb,
    }),
  ];
  const denoDir = mkdtempSync(join(privateDir, "guest-"));
  return {
    file,
    args,
    env: guestEnvironment(denoDir),
    cwd: workspaceDir,
    ownFolder: denoDir,
    init: { ...plan.init, paths: guestPaths(plan), hostPaths: hostPaths(plan, denoDir) },
  };
}

/** Guest path by host path, to rewrite host paths in output. The guest paths are those used with namespaces. */
function hostPaths(plan: GuestPlan, denoDir: string): Record<string, string> {
  const shown = Object.entries(guestPaths(plan)).map(([guest, host]) => [host, guest] as const);
  shown.push([dirname(plan.bootFile), `${GUEST_RUNNER}/guest`], [plan.denoFile, `${GUEST_RUNNER}/deno`]);
  shown.push([denoDir, "/tmp/deno"], [plan.privateDir, "/tmp"]);
  return Object.fromEntries(
    shown.flatMap(([host, guest]) => [host, realpathSync(host)].map((path) => [path, guest])),
  );
}
