import { BYTES_PER_MB, GUEST_WORKSPACE, type Mount, type NetworkPolicy, type SandboxSpec } from "@cem/core";
import { resolveLimits } from "../runs/run-limits.ts";
import { denoArguments } from "./deno-arguments.ts";

/** The unit of a shell's `ulimit -f`. */
const BLOCK_BYTES = 512;

/** Permissions of a guest that has a file system view of its own. */
export interface NamespacedGuest {
  /** The mounts, each with its `place` when it is not mounted at its guest path. */
  mounts: readonly (Mount & { place?: string })[];
  network: NetworkPolicy;
  memoryMb: number;
  /** Guest paths that Deno refuses to read, for files that the view itself can't hide. */
  denyRead?: readonly string[] | undefined;
  /** Guest paths that Deno refuses to write, besides those of read-only mounts. */
  denyWrite?: readonly string[] | undefined;
}

/** Builds Deno's arguments for a guest that has a file system view of its own. */
export function namespacedDenoArguments(plan: NamespacedGuest, bootFile: string): string[] {
  const { mounts, network, memoryMb, denyRead = [], denyWrite = [] } = plan;
  const placeOf = ({ guestPath, place }: (typeof mounts)[number]): string => place ?? guestPath;
  const paths = mounts.map(placeOf);
  const readOnly = mounts.filter((mount) => mount.readOnly).map(placeOf);
  return denoArguments({
    bootFile,
    read: [GUEST_WORKSPACE, ...paths],
    write: [GUEST_WORKSPACE, ...paths.filter((path) => !readOnly.includes(path))],
    denyRead,
    denyWrite: [...readOnly, ...denyWrite],
    network,
    memoryMb,
  });
}

/** The complete environment of a guest: nothing of the host's is passed on. */
export function guestEnvironment(denoDir: string): Record<string, string> {
  return {
    DENO_DIR: denoDir,
    DENO_EMIT_CACHE_MODE: "disable",
    DENO_NO_UPDATE_CHECK: "1",
    // No WebGPU, in threads either: no permission covers the host's driver, which writes files outside of the workspace.
    DENO_WEBGPU_BACKEND: "none",
    NO_COLOR: "1",
    HOME: "/nonexistent",
  };
}

/** The workspace and the mounts of a spec. */
export function guestMounts({ workspaceDir, mounts = [] }: SandboxSpec): Mount[] {
  return [{ hostPath: workspaceDir, guestPath: GUEST_WORKSPACE, readOnly: false }, ...mounts];
}

/** The command that starts the guest runner in a machine or pod, where each mount has its guest path. */
export interface MachineCommand {
  file: string;
  args: string[];
  cwd: string;
  env: Record<string, string>;
  /** Largest file it may write, in bytes. */
  fileBytes: number;
}

/**
 * Builds the command of a guest in a machine or pod.
 *
 * @param denoFile - Deno's path there.
 * @param bootFile - The path of the guest runner's entry file there.
 */
export function machineCommand(spec: SandboxSpec, denoFile: string, bootFile: string): MachineCommand {
  const { mounts = [], hidden, network = "none" } = spec;
  const { memoryMb, writeMb } = resolveLimits(spec.limits);
  return {
    file: denoFile,
    args: namespacedDenoArguments({ mounts, network, memoryMb, denyRead: hidden }, bootFile),
    cwd: GUEST_WORKSPACE,
    env: guestEnvironment("/tmp/deno"),
    fileBytes: Math.ceil(writeMb) * BYTES_PER_MB,
  };
}

/** A command as the arguments of a shell script that starts it: `BLOCKS CWD NAME=VALUE … FILE ARG …`. */
export function scriptArguments({ file, args, cwd, env, fileBytes }: MachineCommand): string[] {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  return [String(Math.ceil(fileBytes / BLOCK_BYTES)), cwd, ...variables, file, ...args];
}
