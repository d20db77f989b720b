import { CemError } from "@cem/core";
import { type RunRefusal } from "@cem/sandbox";
import { GUEST_WORKSPACE } from "@cem/sandbox/provider-kit";
import type { GuestPlan } from "./guest-plan.ts";
import type { IsolationBackend } from "./isolation-backend.ts";
import { findLeavingLink, hasLinkBetween } from "./workspace-links.ts";

/**
 * What has to be looked at before each run: where nothing but Deno's permissions hold the guest, a link in the
 * workspace would lead it out.
 *
 * @throws CemError `SANDBOX_SPEC_INVALID` when a mount's place in the workspace is a link.
 */
export async function workspaceCheck(
  { level }: IsolationBackend,
  { workspaceDir, mounts }: GuestPlan,
): Promise<(() => Promise<RunRefusal | undefined>) | undefined> {
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
  return async () => {
    const link = await findLeavingLink(roots);
    if (link === undefined) return undefined;
    return {
      code: "WORKSPACE_LINK_REFUSED",
      message: `${link} is a symbolic link that leads out of the workspace, which this host's isolation (permissions only) can't hold. Remove it, or install bubblewrap.`,
    };
  };
}
