import { existsSync } from "node:fs";
import { cp } from "node:fs/promises";
import path from "node:path";
import { realPath, type MountSetting } from "@cem/config";
import { GUEST_WORKSPACE, type AuditLog } from "@cem/core";
import type { PlannedWrite } from "@cem/guardrails/calls";
import { vaultIn, withOwnersDir, type Project } from "../project.ts";
import { changesIn, createScratchCopies, type ScratchCopy } from "./scratch-copies.ts";

const NO_NETWORK =
  "A dry run has no network, though execution.allow_network_access is true: a request could change something.";

/**
 * Prepares a dry run, which changes nothing: code in the sandbox works on copies of the workspace, writable mounts, caches
 * and vaults, there is no network, and nothing is shared or metered.
 */
export async function prepareDryRun(loaded: Project) {
  const { execution, optimizations, privacy } = loaded.config;
  await (await loaded.sync?.get())?.fetch();
  const copies = await createScratchCopies(execution.limits);
  try {
    const mounts = execution.mountDirectories;
    const written = [
      execution.workspaceDir,
      execution.state.workspaceDir,
      // A missing mount is reported by the sandbox, as in a real run.
      ...mounts.filter(({ host, mode }) => mode === "rw" && existsSync(host)).map(({ host }) => host),
    ];
    // Outermost first: folders inside a copied one are part of its copy.
    for (const place of written.toSorted((one, other) => one.length - other.length))
      await copies.copyOf(place);
    const workspaceDir = await copies.copyOf(execution.workspaceDir);
    const stateDir = await copies.copyOf(execution.state.workspaceDir);
    const plain = async (place: string, name: string): Promise<string> => {
      const copy = path.join(copies.folder, "kept", name, path.basename(place));
      await cp(place, copy, { recursive: true }).catch(() => {});
      return copy;
    };
    const { owner } = loaded;
    if (owner !== undefined) await plain(vaultIn(owner.home), path.join("owners", owner.id));
    const ownersDir =
      owner === undefined ? loaded.config.customers.dir : path.join(copies.folder, "kept", "owners");
    const config: Project["config"] = {
      ...withOwnersDir(loaded.config, ownersDir),
      store: {},
      execution: {
        ...execution,
        workspaceDir,
        state: { ...execution.state, workspaceDir: stateDir },
        mountDirectories: mounts.map((mount) => ({ ...mount, host: copies.find(mount.host) ?? mount.host })),
        allowNetworkAccess: false,
      },
      optimizations: {
        ...optimizations,
        toolCacheFile: await plain(optimizations.toolCacheFile, "tools"),
        searchCacheDir: await plain(optimizations.searchCacheDir, "search"),
      },
      privacy: { ...privacy, vaultDir: await plain(privacy.vaultDir, "vaults") },
    };
    return {
      /**
       * The project with copies in place of everything that a run writes to. The store itself is used, since reads are
       * audited there.
       */
      loaded: { ...loaded, config, sync: undefined, records: undefined } satisfies Project,
      /** Differences from a real run, as notes of its result. */
      warnings: execution.allowNetworkAccess ? [NO_NETWORK] : [],
      /** Reports the files that were changed as writes of the server `workspace`, and removes the copies. */
      async finish(onWrite: (write: PlannedWrite) => void): Promise<void> {
        try {
          for (const made of copies.made)
            for (const write of await writesTo(made, execution.workspaceDir, mounts)) onWrite(write);
        } finally {
          await copies.remove();
        }
      },
    };
  } catch (error) {
    await copies.remove();
    throw error;
  }
}

/** The changes in a copy, by guest paths for the workspace and host paths elsewhere. */
async function writesTo(
  { copy, before, original }: ScratchCopy,
  workspaceDir: string,
  mounts: readonly MountSetting[],
): Promise<PlannedWrite[]> {
  const mount = mounts.find(({ host }) => realPath(host) === original);
  const isWorkspace = realPath(workspaceDir) === original;
  const changes = await changesIn(copy, before, original);
  return changes.map(({ tool, path: file, now }) => {
    const name = file.split(path.sep).join("/");
    if (isWorkspace) return { server: "workspace", tool, args: { path: name, ...now } };
    const host = path.join(original, file);
    const guest = mount === undefined ? host : path.posix.join(mount.guest, name);
    const shown = guest.startsWith(`${GUEST_WORKSPACE}/`) ? guest.slice(GUEST_WORKSPACE.length + 1) : guest;
    return { server: "workspace", tool, args: { path: shown, host, ...now } };
  });
}

/** Copies the folders of an owner, since opening them creates missing ones and records their last use. */
export async function copyOwner(config: Project["config"], id: string) {
  const copies = await createScratchCopies(config.execution.limits);
  const home = await copies.copyOf(path.join(config.customers.dir, id));
  return { config: withOwnersDir(config, path.dirname(home)), remove: copies.remove };
}

/** The audit log of a dry run: calls that were planned were not made. */
export function auditOfDryRun(audit: AuditLog, planned: readonly PlannedWrite[]): AuditLog {
  const isPlanned = (server: string, tool: string): boolean =>
    planned.some((write) => write.server === server && write.tool === tool);
  return {
    specificationVersion: "v1",
    record(event) {
      if (event.type !== "call" || !isPlanned(event.server, event.tool)) audit.record(event);
    },
  };
}
