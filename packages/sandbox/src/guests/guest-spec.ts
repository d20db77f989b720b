import { lstatSync } from "node:fs";
import { isAbsolute, posix } from "node:path";
import { CemError, GUEST_WORKSPACE, type Mount, type SandboxSpec } from "@cem/core";
import { networkRules } from "../workspace/network-rules.ts";

/** The guest runner's folder in the guest, read-only. */
export const GUEST_RUNNER = "/cem";

const RESERVED = ["/cem", "/proc", "/dev", "/tmp", "/lib", "/lib64", "/usr", "/bin", "/sbin", "/etc", "/old"];

function misuse(message: string, details: Record<string, unknown>): CemError {
  return new CemError("SANDBOX_SPEC_INVALID", message, { details });
}

function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/**
 * Validates a sandbox's spec against this host: paths, mounts, hidden files and network.
 *
 * @throws CemError `SANDBOX_SPEC_INVALID`, with the offending value in `details`.
 */
export function checkSpec({ workspaceDir, mounts = [], hidden = [], network = "none" }: SandboxSpec): void {
  if (network !== "none") networkRules(network);
  if (!isAbsolute(workspaceDir)) {
    throw misuse(`workspaceDir has to be absolute; it is "${workspaceDir}".`, { workspaceDir });
  }
  if (!isFolder(workspaceDir)) {
    throw misuse(`workspaceDir ${workspaceDir} is not an existing folder.`, { workspaceDir });
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
        `A mount can't appear at ${guestPath} in the guest: the path is reserved for the system. Use a path under ${GUEST_WORKSPACE}.`,
        { guestPath },
      );
    }
  }
}

/** Whether a guest path lies in one of the mounts. */
function isInMount(path: string, mounts: readonly Mount[]): boolean {
  return posix.normalize(path) === path && mounts.some(({ guestPath }) => path.startsWith(`${guestPath}/`));
}
