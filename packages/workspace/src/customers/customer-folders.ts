import { hash } from "node:crypto";
import { lstat, mkdir, opendir, readdir, rename } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { CemError, OWNER_ID_RULE, GIVEN_OWNER_ID, isGivenOwnerId, type Store } from "@cem/core";
import { ignoreMissing, PRIVATE_FOLDER, removeFolder } from "@cem/core/files";
import {
  createSharedUsage,
  createUsageFile,
  ifUnsealed,
  makeCustomersFolder,
  quotaUsage,
  removeEndedUsage,
  removeSealedUsage,
} from "./quotas.ts";
import type { CustomerQuota, QuotaUsage } from "./quotas.ts";
import {
  assertNotDeleting,
  beingDeleted,
  everDeleted,
  idleMsOf,
  markFolder,
  NOTICE_MS,
  noteUse,
  removeShared,
  removeStale,
  sharedCustomers,
  sharedKeys,
} from "./shared-customer.ts";

/** Prefix of a folder that is being deleted. No customer's id begins like this. */
const LEAVING = ".leaving-";
const MS_PER_DAY = 86_400_000;

/** The folders of one customer. Only the owner of the process can access them. */
export type CustomerFolder = ReturnType<typeof foldersIn>;

/** Disk and quota usage of a customer. */
export interface CustomerUsage {
  id: string;
  bytes: number;
  /** Number of files and folders. */
  entries: number;
  /** When the customer was last active, in ISO 8601. */
  lastUsed: string;
  /** Usage of each quota. Absent if no quotas are set, or it can't be opened. */
  quotas?: QuotaUsage[] | undefined;
}

/** Settings of {@link createCustomerFolders}. */
export interface CustomerFoldersSettings {
  /** Quotas of every customer, reported by `usage` of {@link CustomerFolders}. */
  quotas?: readonly CustomerQuota[] | undefined;
  /** The store in which machines share customers' usage and deletions. */
  store?: Store | undefined;
  /**
   * How long a deletion waits for other machines to notice it, in milliseconds.
   *
   * @defaultValue 2000
   */
  noticeMs?: number | undefined;
  /** Removes data of a deleted customer elsewhere, after every machine has noticed. Returns whether there was any. */
  removeMore?: ((name: string) => Promise<boolean>) | undefined;
  /** Whether customers are identified by a token claim. Ids are then given as claims. */
  areClaims?: boolean | undefined;
}

/** The customers with folders below one root. */
export type CustomerFolders = ReturnType<typeof createCustomerFolders>;

/** @param root - Absolute path of the folder with one folder for each customer. */
export function createCustomerFolders(
  root: string,
  {
    quotas = [],
    store,
    noticeMs = NOTICE_MS,
    removeMore = async () => false,
    areClaims = false,
  }: CustomerFoldersSettings = {},
) {
  const homeOf = (id: string): string => {
    if (!isCustomerId(id)) throw notFound(id, []);
    return path.join(root, id);
  };

  async function list(): Promise<string[]> {
    const elsewhere = store === undefined ? [] : await sharedCustomers(store);
    return [...new Set([...(await listHere()), ...elsewhere])].toSorted();
  }

  async function listHere(): Promise<string[]> {
    const entries = await readdir(root, { withFileTypes: true }).catch(ignoreMissing);
    const folders = (entries ?? []).filter((entry) => entry.isDirectory() && isCustomerId(entry.name));
    return folders.map(({ name }) => name).toSorted();
  }

  async function isHere(id: string): Promise<boolean> {
    return (await lstat(homeOf(id)).catch(ignoreMissing))?.isDirectory() === true;
  }

  async function isInStore(id: string): Promise<boolean> {
    for (const key of sharedKeys(id)) if ((await store?.list(key, { limit: 1 }))?.length) return true;
    return false;
  }

  async function removeHere(id: string): Promise<void> {
    // Renamed first, so that opening the customer meanwhile finds no partial folder.
    const leaving = path.join(root, `${LEAVING}${id}-${process.hrtime.bigint()}`);
    await rename(homeOf(id), leaving).catch(ignoreMissing);
    await removeFolder(leaving);
    // Also removes folders left by killed processes. A failure does not affect the others.
    const left = (await readdir(root)).filter((name) => name.startsWith(LEAVING));
    await Promise.allSettled(left.map((name) => removeFolder(path.join(root, name))));
    await removeEndedUsage(root);
  }

  /** Removes data outside the customer's part of the store. @returns whether there was any. */
  async function removeBeyond(id: string): Promise<boolean> {
    if (store !== undefined) await removeSealedUsage(store, id);
    const wasHere = await isHere(id);
    if (wasHere) await removeHere(id);
    return (await removeMore(id)) || wasHere;
  }

  /** Resumes an interrupted deletion. */
  function goOn(shared: Store, id: string): Promise<boolean> {
    return removeShared(shared, id, { noticeMs, removeMore: () => removeBeyond(id) }, true);
  }

  async function requireHome(id: string): Promise<string> {
    if (!(await isHere(id))) throw notFound(id, await list());
    return homeOf(id);
  }

  return {
    /** The sorted ids of all customers, including those with data only in the store. */
    list,
    /**
     * Creates a customer's missing folders, and records their use. An interrupted deletion is completed first.
     *
     * @throws CemError `OWNER_GONE` while the customer is being deleted, `DISK_FULL` or `NOT_WRITABLE`.
     */
    async open(id: string): Promise<CustomerFolder> {
      const home = homeOf(id);
      if (store !== undefined) {
        await assertNotDeleting(store, id, () => goOn(store, id));
        await removeStale(home, store);
      }
      await mkdir(root, { recursive: true, mode: PRIVATE_FOLDER });
      const isNew = await makeCustomersFolder(home, "The customer's folder");
      if (store !== undefined && isNew) await markFolder(home, store);
      const folder = foldersIn(home);
      for (const part of [folder.workspaceDir, folder.mergedSkillsDir, folder.sessionsDir])
        await makeCustomersFolder(part, "The customer's folder");
      await noteUse(home, undefined);
      return folder;
    },
    /** Disk and quota usage of a customer. @throws CemError `CUSTOMER_NOT_FOUND` */
    async usage(given: string): Promise<CustomerUsage> {
      const id = nameOf(given, areClaims);
      const home = store === undefined || !isCustomerId(id) ? await requireHome(id) : homeOf(id);
      const size = await measure(home);
      const idleMs = await idleMsOf(home, store);
      // Other machines may have data of it.
      if (idleMs === undefined && !(await isInStore(id))) await requireHome(id);
      const lastUsed = new Date(Date.now() - (idleMs ?? 0)).toISOString();
      const kept = store === undefined ? createUsageFile(home) : createSharedUsage(store, id);
      const usage = quotas.length === 0 ? undefined : await ifUnsealed(kept.read());
      const used = usage && quotas.map((quota) => quotaUsage(usage, quota));
      return { id, ...size, lastUsed, quotas: used };
    },
    /** The customers that have been inactive for a number of days. */
    async inactive(days: number): Promise<string[]> {
      const inactive: string[] = [];
      for (const id of await list()) {
        const idleMs = await idleMsOf(path.join(root, id), store);
        if ((idleMs ?? 0) > days * MS_PER_DAY) inactive.push(id);
      }
      return inactive;
    },
    /** Removes the folders of customers deleted by other machines, and completes interrupted deletions. @returns The ids of these customers. */
    async removeDeleted(): Promise<string[]> {
      if (store === undefined) return [];
      const removed: string[] = [];
      for (const id of await everDeleted(store, await listHere()))
        if (await removeStale(path.join(root, id), store)) removed.push(id);
      // A failure does not affect the others.
      for (const id of await beingDeleted(store))
        if (await goOn(store, id).catch(() => false)) removed.push(id);
      return removed;
    },
    /**
     * Removes all data of a customer, even while their code runs: agents of this and other processes end it.
     *
     * @throws CemError `CUSTOMER_NOT_FOUND`
     */
    async remove(given: string): Promise<void> {
      const id = nameOf(given, areClaims);
      let wasThere = (await isHere(id)) || (await isInStore(id));
      const removing = async (): Promise<unknown> => (wasThere = (await removeBeyond(id)) || wasThere);
      if (store === undefined) await removing();
      else
        while (!(await removeShared(store, id, { noticeMs, removeMore: removing }))) await sleep(NOTICE_MS);
      if (!wasThere) throw notFound(id, await list());
    },
  };
}

function foldersIn(home: string) {
  return {
    id: path.basename(home),
    /** `<root>/<id>`. */
    home,
    /** The folder mounted as `/workspace` for the customer's programs. */
    workspaceDir: path.join(home, "workspace"),
    /** The customer's own skills. */
    skillsDir: path.join(home, "skills"),
    /** The merged customer's and shared skills, as visible to code. */
    mergedSkillsDir: path.join(home, ".skills"),
    /** The logs of the customer's sessions, mounted read-only as `/workspace/sessions`. */
    sessionsDir: path.join(home, "sessions"),
    /** Sign-ins at MCP servers. */
    authDir: path.join(home, "auth"),
    /** Encrypted values that are hidden from the model. */
    vaultDir: path.join(home, "vault"),
    /** Runs of workflows. */
    workflowsDir: path.join(home, "workflows"),
    /** Caches that depend on the customer's data, such as their skills. */
    cacheDir: path.join(home, "cache"),
  };
}

/** Measures a folder without following links, and without folders that a program made inaccessible. */
async function measure(folder: string): Promise<{ bytes: number; entries: number }> {
  let [bytes, entries] = [0, 0];
  const pending = [folder];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const opened = await opendir(next).catch(() => undefined);
    if (opened === undefined) continue;
    for await (const entry of opened) {
      entries += 1;
      const file = path.join(next, entry.name);
      if (entry.isDirectory()) pending.push(file);
      else bytes += (await lstat(file).catch(() => undefined))?.size ?? 0;
    }
  }
  return { bytes, entries };
}

function notFound(id: string, known: readonly string[]): CemError {
  return new CemError("CUSTOMER_NOT_FOUND", `There is no customer ${JSON.stringify(id.slice(0, 80))}.`, {
    details: { customer: id.slice(0, 80), known },
  });
}

/** Ids derived from an identity, or from an id with capital letters. */
const DERIVED = /^(?:[a-z0-9][a-z0-9_-]{0,27}-)?id-[0-9a-f]{32}$/u;
const MAX_READABLE_CHARACTERS = 28;
const DERIVED_CHARACTERS = 32;

/**
 * Checks a customer's id.
 *
 * @returns The name of the customer's folder and data. It differs from an id with capital letters, so that ids that differ
 *   only in case stay distinct on case-insensitive file systems.
 * @throws CemError `CUSTOMER_INVALID` for an id that could be confused with another's.
 */
export function requireCustomerId(id: unknown): string {
  if (isGivenOwnerId(id)) return id;
  if (typeof id !== "string" || !GIVEN_OWNER_ID.test(id)) {
    const customer = typeof id === "string" ? id.slice(0, 80) : typeof id;
    const shown = typeof id === "string" ? JSON.stringify(customer) : customer;
    const message = `${shown} can't be a customer's id: it needs ${OWNER_ID_RULE}.`;
    throw new CemError("CUSTOMER_INVALID", message, { details: { customer } });
  }
  return `${id.toLowerCase().slice(0, MAX_READABLE_CHARACTERS)}-${customerIdOf(["capitals", id])}`;
}

/**
 * Derives an id from an identity, such as issuer, client and subject of a token. The parts are encoded unambiguously, so
 * that no two identities share an id.
 */
export function customerIdOf(identity: readonly string[]): string {
  return `id-${hash("sha256", JSON.stringify(identity), "hex").slice(0, DERIVED_CHARACTERS)}`;
}

function isCustomerId(name: string): boolean {
  return DERIVED.test(name) || isGivenOwnerId(name);
}

/** The id of the customer in a token claim. */
export function customerIdOfClaim(claim: string): string {
  return isGivenOwnerId(claim) ? claim : customerIdOf(["claim", claim]);
}

/** The name of a customer's folder, from a given id or the name itself. */
function nameOf(id: string, areClaims: boolean): string {
  if (areClaims) return isCustomerId(id) ? id : customerIdOfClaim(id);
  return !isCustomerId(id) && GIVEN_OWNER_ID.test(id) ? requireCustomerId(id) : id;
}
