import { join } from "node:path";
import type { Mount, NetworkPolicy } from "@cem/core";
import { GUEST_WORKSPACE } from "@cem/sandbox/provider-kit";

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
