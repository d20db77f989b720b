import path from "node:path";
import type { Config } from "@cem/config";
import { BYTES_PER_MB, CemError, Lazy } from "@cem/core";
import type { SkillStore, StateStore, Store, StoreKey, WorkspaceSync } from "@cem/core";
import type { Project } from "../project.ts";
import type { BlobStore, Root } from "@cem/workspace/sync";
import { sealingKeysOf } from "./store.ts";

const FILES = "files";
/** Factor on the workspace's quota, since two concurrent runs may each use all of it. */
const ROOM = 2;

type Sharing = Pick<Project, "config" | "owner" | "store">;

/**
 * Synchronizes a workspace with other machines, opened on first use. `undefined` if each machine has its own.
 *
 * @param onFetched - Called when files were fetched from elsewhere.
 */
export function lazySync(loaded: Sharing, onFetched?: () => Promise<void>): Lazy<WorkspaceSync> | undefined {
  const { config, owner, store } = loaded;
  if (config.store.files === undefined) return undefined;
  return new Lazy(async () => {
    const { createWorkspaceSync } = await import("@cem/workspace/sync");
    const { followCustomer } = await import("@cem/workspace");
    const { maxWorkspaceMb, maxWorkspaceEntries } = config.execution.limits;
    const isThere = owner && followCustomer(owner.home, await store?.get());
    await isThere?.();
    return createWorkspaceSync({
      ...(await openPlace(loaded, await scopeOf(owner?.id))),
      roots: rootsOf(loaded),
      recordFile: recordFileOf(loaded),
      limits: { maxBytes: maxWorkspaceMb * BYTES_PER_MB * ROOM, maxFiles: maxWorkspaceEntries * ROOM },
      isThere,
      onFetched,
    });
  });
}

/**
 * Deletes the files of an owner from the shared storage. Called after all machines know of the deletion, so it leaves no tombstone.
 *
 * @returns whether there were any.
 */
export async function deleteSharedFiles(loaded: Sharing, id: string): Promise<boolean> {
  if (loaded.config.store.files === undefined) return false;
  const { deleteSharedWorkspace } = await import("@cem/workspace/sync");
  const wereThere = await deleteSharedWorkspace(await openPlace(loaded, await scopeOf(id)));
  await (await loaded.store?.get())?.removeAll([FILES, ...(await scopeOf(id))]);
  return wereThere;
}

/** Checks that the file storage supports what a workspace needs. @returns its risks: none */
export async function probeFiles(loaded: Sharing): Promise<string[]> {
  const { blobs } = await openPlace(loaded, ["probe"]);
  await blobs.write("probe", Buffer.of(1));
  await blobs.read("probe");
  for await (const _ of blobs.names()) break;
  await blobs.remove("probe");
  return [];
}

/** Numbers sessions across all machines. `undefined` if each machine numbers its own. */
export function sessionNumbers(loaded: Sharing): (() => Promise<number>) | undefined {
  if (loaded.config.store.files === undefined) return undefined;
  return async () => {
    const { nextSessionNumber } = await import("@cem/workspace/sync");
    return nextSessionNumber((await openPlace(loaded, await scopeOf(loaded.owner?.id))).store);
  };
}

export function shareState(state: StateStore, sync: Lazy<WorkspaceSync> | undefined): StateStore {
  if (sync === undefined) return state;
  return {
    specificationVersion: "v1",
    async read(file, options) {
      await (await sync.get()).fetch();
      return state.read(file, options);
    },
    save: (data, file, options) => changing(sync, () => state.save(data, file, options)),
  };
}

export function shareSkills(skills: SkillStore, sync: Lazy<WorkspaceSync> | undefined): SkillStore {
  if (sync === undefined) return skills;
  const fetched = async (): Promise<SkillStore> => {
    await (await sync.get()).fetch();
    return skills;
  };
  return {
    specificationVersion: "v1",
    list: async (options) => (await fetched()).list(options),
    get: async (name, options) => (await fetched()).get(name, options),
    save: (draft, options) => changing(sync, () => skills.save(draft, options)),
    promote: (name, approvedBy) => changing(sync, () => skills.promote(name, approvedBy)),
    remove: (name, options) => changing(sync, () => skills.remove(name, options)),
  };
}

/** Unlike a run, which reports it in its result, a change that can't be uploaded fails. It is kept locally. */
async function changing<Result>(sync: Lazy<WorkspaceSync>, work: () => Promise<Result>): Promise<Result> {
  const files = await sync.get();
  await files.fetch();
  const result = await work();
  await files.put();
  return result;
}

function rootsOf({ config: { execution }, owner }: Sharing): Root[] {
  const { skillsDir, state, workspaceDir } = execution;
  const workspace = { name: "workspace", folder: workspaceDir };
  if (owner !== undefined)
    return [
      workspace,
      { name: "sessions", folder: owner.sessionsDir },
      { name: "skills", folder: owner.skillsDir },
    ];
  const own = [workspace, { name: "skills", folder: skillsDir }];
  return state.workspaceDir === workspaceDir ? own : [...own, { name: "state", folder: state.workspaceDir }];
}

/** Outside the reach of code in the sandbox. */
function recordFileOf({ config: { execution }, owner }: Sharing): string {
  if (owner !== undefined) return path.join(owner.home, "shared-files.json");
  const { dir, base } = path.parse(execution.workspaceDir);
  return path.join(dir, `.${base}.shared-files.json`);
}

/** @throws CemError `CONFIG_INVALID` */
async function openPlace({ config, store }: Sharing, scope: StoreKey) {
  if (store === undefined)
    throw invalid(
      "store.url",
      "store.files (CEM_STORE_FILES) needs store.url (CEM_STORE_URL), which says which files are the newest.",
    );
  const { scopeStore } = await import("@cem/store");
  const own = scopeStore(await store.get(), FILES, ...scope);
  return { store: own, blobs: await openBlobs(config, own, scope) };
}

async function scopeOf(owner: string | undefined): Promise<StoreKey> {
  return owner === undefined ? ["own"] : (await import("@cem/workspace")).customerKey(owner);
}

async function openBlobs(config: Config, store: Store, scope: readonly string[]): Promise<BlobStore> {
  const { createS3Blobs, createStoreBlobs, parseS3Url, sealBlobs } = await import("@cem/workspace/sync");
  const { files = "store" } = config.store;
  if (files === "store") return createStoreBlobs(store);
  const place = parseS3Url(files, process.env);
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = process.env;
  if (typeof place === "string") throw invalid("store.files", `store.files (CEM_STORE_FILES) ${place}.`);
  if (!accessKeyId || !secretAccessKey)
    throw invalid(
      "store.files",
      "store.files (CEM_STORE_FILES) needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.",
    );
  const sessionToken = process.env["AWS_SESSION_TOKEN"];
  const credentials = { accessKeyId, secretAccessKey, sessionToken };
  const blobs = createS3Blobs({ place, credentials }, scope.join("/"));
  const keys = await sealingKeysOf(config);
  if (keys === undefined) return blobs;
  const { seal, unseal } = await import("@cem/store");
  return sealBlobs(blobs, { seal: seal.bind(null, keys), unseal: unseal.bind(null, keys) });
}

function invalid(setting: string, message: string): CemError {
  return new CemError("CONFIG_INVALID", message, { details: { setting } });
}
