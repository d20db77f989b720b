import { realpathSync } from "node:fs";
import { dirname } from "node:path";
import { findProgram } from "@cem/core/files";
import type { BackendProbe, GuestPlan } from "./guest-plan.ts";
import { permissionsOnly } from "./permissions.ts";

/** Folders of macOS with files of people, programs and other disks. The system's own folders stay readable. */
const PRIVATE_FOLDERS = [
  "/Users",
  "/Volumes",
  "/Network",
  "/opt",
  "/private/var",
  "/private/tmp",
  "/private/etc",
];
/** The parts of these that a process needs to start. */
const NEEDED_FOLDERS = ["/private/var/db/dyld", "/private/var/db/timezone"];

/**
 * Deno's permissions within a profile of macOS's `sandbox-exec`, which the kernel enforces. It is not covered by this
 * project's CI, so its level is that of the permissions; if no guest starts with it, only the permissions apply.
 */
export function findSandboxExec(): BackendProbe {
  if (process.platform !== "darwin") return { ok: false, reason: "it is a program of macOS" };
  const program = findProgram("sandbox-exec");
  if (program === undefined) return { ok: false, reason: "sandbox-exec is not installed" };
  const permissions = permissionsOnly();
  return {
    ok: true,
    backend: {
      name: "sandbox-exec",
      level: "permissions",
      mechanisms: ["sandbox-exec", ...permissions.mechanisms],
      plan(plan) {
        const started = permissions.plan(plan);
        const profile = profileOf(plan, started.ownFolder);
        return { ...started, file: program, args: ["-p", profile, started.file, ...started.args] };
      },
    },
  };
}

/** The profile in which a guest runs. The last matching rule applies. */
export function profileOf(plan: GuestPlan, ownFolder: string | undefined): string {
  const { workspaceDir, mounts, network, denoFile, bootFile } = plan;
  const own = ownFolder === undefined ? [] : [ownFolder];
  const readable = [workspaceDir, ...mounts.map(({ hostPath }) => hostPath), dirname(bootFile), ...own];
  const writable = [
    workspaceDir,
    ...mounts.filter(({ readOnly }) => !readOnly).map(({ hostPath }) => hostPath),
  ];
  const locked = mounts.filter(({ readOnly }) => readOnly).map(({ hostPath }) => hostPath);
  const folders = (paths: readonly string[]): string =>
    paths.map((path) => `(subpath ${quoted(path)})`).join(" ");
  return [
    "(version 1)",
    "(allow default)",
    `(deny file-read-data ${folders(PRIVATE_FOLDERS)})`,
    `(allow file-read* ${folders([...NEEDED_FOLDERS, ...readable.map(real)])} (literal ${quoted(real(denoFile))}))`,
    "(deny file-write*)",
    `(allow file-write* ${folders([...writable, ...own].map(real))} (literal "/dev/null"))`,
    ...(locked.length === 0 ? [] : [`(deny file-write* ${folders(locked.map(real))})`]),
    ...(network === "none" ? ["(deny network*)"] : []),
    "(deny process-fork)",
    "(deny process-exec*)",
    `(allow process-exec (literal ${quoted(real(denoFile))}))`,
    "(deny signal (target others))",
  ].join("\n");
}

/** The kernel compares real paths, and `/tmp` and `/var` are links. */
function real(path: string): string {
  return realpathSync(path);
}

function quoted(path: string): string {
  return `"${path.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}
