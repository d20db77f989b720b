import { join } from "node:path";
import type { Mount, NetworkPolicy } from "@cem/core";
import { GUEST_WORKSPACE } from "@cem/sandbox";

/** What a guest sees and may do; the same for every way of isolating it. */
export interface GuestPlan {
  denoFile: string;
  bootFile: string;
  /** Holds this sandbox's import map, and one folder per guest where needed. */
  privateDir: string;
  workspaceDir: string;
  mounts: readonly Mount[];
  network: NetworkPolicy;
  memoryMb: number;
  writeMb: number;
}

/** Guest folders and where they really are. */
export function guestPaths({ workspaceDir, mounts }: GuestPlan): Record<string, string> {
  return Object.fromEntries([
    [GUEST_WORKSPACE, workspaceDir],
    ...mounts.map(({ guestPath, hostPath }): [string, string] => [guestPath, hostPath]),
  ]);
}

/** Where a sandbox keeps the modules that stand in for Node's. */
export function standInFolder(privateDir: string): string {
  return join(privateDir, "modules");
}
