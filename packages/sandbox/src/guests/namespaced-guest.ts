import type { Mount, NetworkPolicy } from "@cem/core";
import { denoArguments } from "./deno-arguments.ts";
import { GUEST_WORKSPACE } from "./guest-spec.ts";

/** Permissions of a guest that has a file system view of its own. */
export interface NamespacedGuest {
  /** Each with the place where it is mounted, if that is not its guest path. */
  mounts: readonly (Mount & { place?: string })[];
  network: NetworkPolicy;
  memoryMb: number;
  /** Guest paths that Deno refuses to read, for files that the view itself can't hide. */
  denyRead?: readonly string[] | undefined;
}

/** Builds Deno's arguments for a guest that has a file system view of its own. */
export function namespacedDenoArguments(plan: NamespacedGuest, bootFile: string): string[] {
  const { mounts, network, memoryMb, denyRead = [] } = plan;
  const placeOf = ({ guestPath, place }: (typeof mounts)[number]): string => place ?? guestPath;
  const paths = mounts.map(placeOf);
  const readOnly = mounts.filter((mount) => mount.readOnly).map(placeOf);
  return denoArguments({
    bootFile,
    read: [GUEST_WORKSPACE, ...paths],
    write: [GUEST_WORKSPACE, ...paths.filter((path) => !readOnly.includes(path))],
    denyRead,
    denyWrite: readOnly,
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
    NO_COLOR: "1",
    HOME: "/nonexistent",
  };
}
