import { CemError } from "@cem/core";
import { type RunRefusal } from "@cem/sandbox";
import { GUEST_WORKSPACE } from "@cem/sandbox/provider-kit";
import { toGuestPath, type GuestPlan } from "./guest-plan.ts";
import type { IsolationBackend } from "./isolation-backend.ts";
import { createLinkSearch, hasLinkBetween } from "./workspace-links.ts";

/**
 * Creates the check before each run, where only Deno's permissions isolate the guest: a symbolic link in the workspace
 * would give access to files outside.
 *
 * @returns `undefined` where the isolation level needs no check.
 * @throws CemError `SANDBOX_SPEC_INVALID` when a mount's path in the workspace is a symbolic link.
 */
export async function workspaceCheck(
  { level }: IsolationBackend,
  plan: GuestPlan,
): Promise<(() => Promise<RunRefusal | undefined>) | undefined> {
  const { workspaceDir, mounts } = plan;
  for (const { guestPath } of mounts) {
    if (!guestPath.startsWith(`${GUEST_WORKSPACE}/`)) continue;
    const place = workspaceDir + guestPath.slice(GUEST_WORKSPACE.length);
    if (!(await hasLinkBetween(workspaceDir, place))) continue;
    throw new CemError(
      "SANDBOX_SPEC_INVALID",
      `${place} is a symbolic link, so nothing can be mounted there. Remove it.`,
      {
        details: { path: place },
      },
    );
  }
  if (level !== "permissions") return undefined;
  const roots = [workspaceDir, ...mounts.map(({ hostPath }) => hostPath)];
  const unmovable = mounts.filter(({ readOnly }) => readOnly).map(({ hostPath }) => hostPath);
  const findLeavingLink = createLinkSearch(roots, unmovable);
  return async () => {
    const link = await findLeavingLink();
    if (link === undefined) return undefined;
    return {
      code: "WORKSPACE_LINK_REFUSED",
      message: `${toGuestPath(plan, link)} is a symbolic link that leads out of the workspace, or up and so out of it once it is moved, and isolation level permissions can't confine it. Remove the link, or install bubblewrap.`,
    };
  };
}
