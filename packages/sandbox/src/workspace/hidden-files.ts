import { CemError, GUEST_WORKSPACE, type Mount, type SandboxSpec } from "@cem/core";

/**
 * Refuses hidden files in writable mounts: Deno's permissions go by path, and a program could rename their folder.
 *
 * @param where - The place, for the message: `in a pod`.
 * @throws CemError `SANDBOX_SPEC_INVALID`.
 */
export function checkHidden(spec: SandboxSpec, where: string): void {
  for (const path of spec.hidden ?? []) {
    const place = placeOf(spec, path);
    if (place === undefined || place.readOnly) continue;
    const message = `${path} can't be hidden ${where}, since ${place.guestPath} is writable there. Mount its folder read-only.`;
    throw new CemError("SANDBOX_SPEC_INVALID", message, { details: { hidden: path } });
  }
}

/** The innermost mount, or the workspace, that contains a guest path. */
function placeOf({ workspaceDir, mounts = [] }: SandboxSpec, path: string): Mount | undefined {
  const workspace = { guestPath: GUEST_WORKSPACE, hostPath: workspaceDir, readOnly: false };
  return [workspace, ...mounts]
    .toSorted((one, other) => other.guestPath.length - one.guestPath.length)
    .find(({ guestPath }) => path.startsWith(`${guestPath}/`));
}
