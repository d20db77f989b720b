import { existsSync, realpathSync } from "node:fs";
import { sep } from "node:path";
import { GUEST_WORKSPACE, type IsolationLevel, type Mount, type NetworkPolicy } from "@cem/core";
import { GUEST_RUNNER, toolFoldersOf } from "@cem/sandbox/provider-kit";
import type { GuestInit, MachineCommand, NamespacedGuest } from "@cem/sandbox/provider-kit";

/** A guest's files, permissions and limits, for every isolation backend. */
export interface GuestPlan {
  denoFile: string;
  bootFile: string;
  /** This sandbox's temporary folder, with a folder per guest where needed. */
  privateDir: string;
  workspaceDir: string;
  mounts: readonly Mount[];
  /** Guest paths of files that the guest must not read. */
  hidden: readonly string[];
  /** The `init` message, without what depends on the backend. */
  init: GuestInit;
  network: NetworkPolicy;
  /** In MiB. */
  memoryMb: number;
  /** In MiB. */
  writeMb: number;
}

/**
 * Chooses where each mount goes in a guest with its own view of the file system. A mount point in the workspace would
 * be a folder on the host that can't be removed while any guest lives; so such mounts go elsewhere, and the guest
 * runner maps their paths.
 */
export function placeMounts({ mounts }: GuestPlan) {
  return mounts.map((mount, index) => ({
    ...mount,
    place: mount.guestPath.startsWith(`${GUEST_WORKSPACE}/`)
      ? `${GUEST_RUNNER}/mounts/${index}`
      : mount.guestPath,
  }));
}

/**
 * The workspace's own folders that read-only mounts cover, as paths relative to the workspace. They must not be
 * writable: threads, and URLs in other spellings, reach the folder itself, which may be the source of tool files.
 */
export function coveredFolders({ mounts }: GuestPlan): string[] {
  const inWorkspace = toolFoldersOf(mounts).filter((folder) => folder.startsWith(`${GUEST_WORKSPACE}/`));
  return inWorkspace.map((folder) => folder.slice(GUEST_WORKSPACE.length));
}

/** Deno's permissions for a guest with its own view of the file system. */
export function namespacedPermissions(plan: GuestPlan): NamespacedGuest {
  const denyWrite = coveredFolders(plan).map((folder) => GUEST_WORKSPACE + folder);
  return { ...plan, mounts: placeMounts(plan), denyRead: plan.hidden, denyWrite };
}

/** The `init` fields for a guest with its own view of the file system. It has paths to map only if mounts were moved. */
export function placedInitOf(plan: GuestPlan): GuestInit {
  const moved = placeMounts(plan).filter(({ guestPath, place }) => place !== guestPath);
  if (moved.length === 0) return plan.init;
  return {
    ...plan.init,
    paths: Object.fromEntries(moved.map(({ guestPath, place }) => [guestPath, place])),
    hostPaths: Object.fromEntries(moved.map(({ guestPath, place }) => [place, guestPath])),
    hasOwnView: true,
  };
}

/** The place of a guest path in a mount, in a guest with its own view of the file system. */
function toPlace(plan: GuestPlan, path: string): string {
  const [mount] = placeMounts(plan)
    .filter(({ guestPath }) => path.startsWith(`${guestPath}/`))
    .toSorted((one, other) => other.guestPath.length - one.guestPath.length);
  return mount === undefined ? path : mount.place + path.slice(mount.guestPath.length);
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

/** The places of hidden files that exist: a device that can't be opened is mounted over each. */
export function hiddenPlaces(plan: GuestPlan): string[] {
  return plan.hidden.filter((file) => existsSync(toHostPath(plan, file))).map((file) => toPlace(plan, file));
}

/** The guest path of a real host path in the workspace or a mount. */
export function toGuestPath(plan: GuestPlan, path: string): string {
  for (const [guest, host] of Object.entries(guestPaths(plan))) {
    const real = realpathSync(host);
    if (path.startsWith(real + sep)) return guest + path.slice(real.length).replaceAll(sep, "/");
  }
  return path;
}

/** The command that starts one guest. */
export interface SpawnPlan extends Omit<MachineCommand, "fileBytes"> {
  /** A file to open for reading as file descriptor 3. */
  descriptorFile?: string | undefined;
  /** A folder for this guest alone, removed after its end. */
  ownFolder?: string | undefined;
  /** The backend's part of the guest's `init` message. */
  init: GuestInit;
}

/** One way to isolate a guest from the host. */
export interface IsolationBackend {
  readonly name: "bubblewrap" | "unshare" | "sandbox-exec" | "permissions";
  readonly level: IsolationLevel;
  /** The mechanisms in force, for display. */
  readonly mechanisms: readonly string[];
  /** Builds the command for one guest. */
  plan(plan: GuestPlan): SpawnPlan;
}

/** A backend, or the reason why this host can't use it. */
export type BackendProbe = { ok: true; backend: IsolationBackend } | { ok: false; reason: string };
