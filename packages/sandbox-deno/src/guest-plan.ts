import { lstatSync } from "node:fs";
import { isAbsolute, join, posix } from "node:path";
import { CemError, type Mount, type NetworkPolicy, type SandboxSpec } from "@cem/core";
import { networkRules } from "./network-rules.ts";

/** Where the guest sees its workspace. */
export const GUEST_WORKSPACE = "/workspace";
/** Where the guest sees the runner, read-only. */
export const GUEST_RUNNER = "/cem";

/** What a guest sees and may do; the same for every way of isolating it. */
export interface GuestPlan {
  denoFile: string;
  bootFile: string;
  /** Holds this sandbox's import map, and one folder per guest where needed. */
  privateDir: string;
  workspaceDir: string;
  mounts: readonly Mount[];
  /** Guest paths of files whose text the guest must not see. */
  hidden: readonly string[];
  /** Tools on the host that no file stands for, by server. */
  hostTools: Readonly<Record<string, readonly string[]>>;
  network: NetworkPolicy;
  memoryMb: number;
  writeMb: number;
}

const RESERVED = ["/cem", "/proc", "/dev", "/tmp", "/lib", "/lib64", "/usr", "/bin", "/sbin", "/etc", "/old"];

function misuse(message: string, details: Record<string, unknown>): CemError {
  return new CemError("SANDBOX_SPEC_INVALID", message, { details });
}

function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/**
 * Checks what a sandbox was asked for.
 *
 * @throws CemError `SANDBOX_SPEC_INVALID` with the field and the value.
 */
export function checkSpec({ workspaceDir, mounts = [], hidden = [], network = "none" }: SandboxSpec): void {
  if (network !== "none") networkRules(network);
  if (!isAbsolute(workspaceDir)) {
    throw misuse(`workspaceDir has to be absolute; it is "${workspaceDir}".`, { workspaceDir });
  }
  if (!isFolder(workspaceDir)) {
    throw misuse(`workspaceDir ${workspaceDir} is not a folder. Make it first.`, { workspaceDir });
  }
  const shown = hidden.find((path) => !isInMount(path, mounts));
  if (shown !== undefined) {
    throw misuse(`${shown} can't be hidden: it is not a plain path in one of the mounts.`, { hidden: shown });
  }
  for (const { hostPath, guestPath } of mounts) {
    if (!isAbsolute(hostPath) || lstatSync(hostPath, { throwIfNoEntry: false }) === undefined) {
      throw misuse(`The mount ${hostPath} is not an absolute path that exists.`, { hostPath });
    }
    if (
      !posix.isAbsolute(guestPath) ||
      posix.normalize(guestPath) !== guestPath ||
      guestPath === GUEST_WORKSPACE
    ) {
      throw misuse(
        `A mount can't appear at ${guestPath} in the guest: it has to be a plain absolute path other than ${GUEST_WORKSPACE}.`,
        { guestPath },
      );
    }
    if (
      guestPath === "/" ||
      RESERVED.some((path) => guestPath === path || guestPath.startsWith(`${path}/`))
    ) {
      throw misuse(
        `A mount can't appear at ${guestPath} in the guest: that place is the system's. Use a path under ${GUEST_WORKSPACE}.`,
        { guestPath },
      );
    }
  }
}

/** A place in the guest that one of its mounts shows. */
function isInMount(path: string, mounts: readonly Mount[]): boolean {
  return posix.normalize(path) === path && mounts.some(({ guestPath }) => path.startsWith(`${guestPath}/`));
}

/** What the guest finds in place of a hidden file: a module that fails clearly. */
export function hiddenStandIn(privateDir: string): string {
  return join(standInFolder(privateDir), "hidden.ts");
}

/** Guest folders and where they really are. */
export function guestPaths({ workspaceDir, mounts }: GuestPlan): Record<string, string> {
  return Object.fromEntries([
    [GUEST_WORKSPACE, workspaceDir],
    ...mounts.map(({ guestPath, hostPath }): [string, string] => [guestPath, hostPath]),
  ]);
}

/** Where a path under the workspace or a mount of it really is. */
export function toHostPath(plan: GuestPlan, path: string): string {
  const places = Object.entries(guestPaths(plan)).toSorted(([a], [b]) => b.length - a.length);
  const [guest, host] = places.find(([folder]) => path.startsWith(`${folder}/`)) ?? ["", ""];
  return host + path.slice(guest.length);
}

/** Where a sandbox keeps the modules that stand in for Node's. */
export function standInFolder(privateDir: string): string {
  return join(privateDir, "modules");
}
