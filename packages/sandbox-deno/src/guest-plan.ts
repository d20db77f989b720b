import { realpathSync } from "node:fs";
import { join, sep } from "node:path";
import type { Mount, NetworkPolicy } from "@cem/core";
import { GUEST_WORKSPACE, type InitMessage } from "@cem/sandbox/provider-kit";

/** A guest's files, permissions and limits, for every isolation backend. */
export interface GuestPlan {
  denoFile: string;
  bootFile: string;
  /** This sandbox's temporary folder: its placeholder for hidden files, and a folder per guest where needed. */
  privateDir: string;
  workspaceDir: string;
  mounts: readonly Mount[];
  /** Guest paths of files that the guest must not read. */
  hidden: readonly string[];
  /** Names of tools on the host that have no file, by server. */
  hostTools: Readonly<Record<string, readonly string[]>>;
  network: NetworkPolicy;
  /** In MiB. */
  memoryMb: number;
  /** In MiB. */
  writeMb: number;
}

/** What a guest is told at its start about its files and tools. */
export type GuestInit = Pick<InitMessage, "paths" | "hostPaths" | "hostTools" | "hidden">;

export function initOf({ hostTools, hidden }: GuestPlan): GuestInit {
  return { hostTools, hidden };
}

/** The placeholder that a guest finds at a hidden file's path: a module that throws an explanation. */
export function hiddenPlaceholder(privateDir: string): string {
  return join(privateDir, "hidden.ts");
}

/** Host folder by guest folder: the workspace and the mounts. */
export function guestPaths({ workspaceDir, mounts }: GuestPlan): Record<string, string> {
  return Object.fromEntries([
    [GUEST_WORKSPACE, workspaceDir],
    ...mounts.map(({ guestPath, hostPath }): [string, string] => [guestPath, hostPath]),
  ]);
}

/** The host path of a guest path in the workspace or a mount. */
export function toHostPath(plan: GuestPlan, path: string): string {
  const places = Object.entries(guestPaths(plan)).toSorted(([a], [b]) => b.length - a.length);
  const [guest, host] = places.find(([folder]) => path.startsWith(`${folder}/`)) ?? ["", ""];
  return host + path.slice(guest.length);
}

/** The guest path of a real host path in the workspace or a mount. */
export function toGuestPath(plan: GuestPlan, path: string): string {
  for (const [guest, host] of Object.entries(guestPaths(plan))) {
    const real = realpathSync(host);
    if (path.startsWith(real + sep)) return guest + path.slice(real.length).replaceAll(sep, "/");
  }
  return path;
}
