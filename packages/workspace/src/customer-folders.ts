import { lstat, mkdir, opendir, readdir, rename, rm } from "node:fs/promises";
import path from "node:path";
import { CemError } from "@cem/core";
import type { Store } from "@cem/core";
import { isCustomerId } from "./customer-id.ts";
import { createUsageFile, readStored, updateUsage } from "./customer-usage.ts";
import type { CustomerQuota } from "./customer-usage.ts";
import { keepQuotas, restoreQuotas } from "./kept-quotas.ts";
import type { QuotaUsage } from "./run-charges.ts";
import { noteUse, readQuotas } from "./run-meter.ts";
import {
  assertNotDeleting,
  createSharedUsage,
  everDeleted,
  keyOfCustomer,
  markFolder,
  NOTICE_MS,
  REMOVE_RETRIES,
  REMOVE_RETRY_MS,
  removeShared,
  removeStale,
  sharedCustomers,
} from "./shared-customer.ts";
import { advance, thisMachine } from "./steady-clock.ts";
import type { MachineClock } from "./steady-clock.ts";

const PRIVATE = 0o700;
/** A folder on its way out. No customer's id begins so. */
const LEAVING = ".leaving-";
const MS_PER_DAY = 86_400_000;
/** A folder's own time that is so much older than what is noted in it was set by somebody. */
const DATED_BACK_MS = 3_600_000;

/** The folders of one customer. Nobody but the owner of the process can enter them. */
export interface CustomerFolder {
  id: string;
  /** `<root>/<id>`. */
  home: string;
  /** What code of the customer sees as `/workspace`. */
  workspaceDir: string;
  /** The customer's own skills. */
  skillsDir: string;
  /** The customer's and the shared skills, as code sees them. */
  mergedSkillsDir: string;
  /** The logs of the customer's sessions, which code sees as `/workspace/sessions` and can't write. */
  sessionsDir: string;
  /** Sign-ins at MCP servers. */
  authDir: string;
  /** Values that are kept from the model, encrypted. */
  vaultDir: string;
  /** Runs of workflows. */
  workflowsDir: string;
  /** What is kept to save time, where it tells of the customer. */
  cacheDir: string;
}

/** What a customer has on disk. */
export interface CustomerUsage {
  id: string;
  bytes: number;
  /** Files and folders. */
  entries: number;
  /** When the customer was last at work, in ISO 8601. */
  lastUsed: string;
  /** What was used of each quota. Absent where none is known. */
  quotas?: QuotaUsage[] | undefined;
}

/** Settings of {@link createCustomerFolders}. */
export interface CustomerFoldersSettings {
  /** What each customer may use, which {@link CustomerFolders.usage} tells of. */
  quotas?: readonly CustomerQuota[] | undefined;
  clock?: MachineClock | undefined;
  /** Where machines share what customers have used, and who was deleted. */
  store?: Store | undefined;
  /**
   * How long a deletion waits for the other machines to notice it, in milliseconds.
   *
   * @defaultValue 2000
   */
  noticeMs?: number | undefined;
}

/** The customers whose folders are under one root. */
export interface CustomerFolders {
  /**
   * Makes a customer's folders where they are missing, and notes that they are used.
   *
   * @throws CemError `CUSTOMER_GONE` while the customer is being deleted.
   */
  open(id: string): Promise<CustomerFolder>;
  /** The ids of all customers, those of whom only the store has something among them, sorted. */
  list(): Promise<string[]>;
  /** What a customer has on disk. @throws CemError `CUSTOMER_NOT_FOUND` */
  usage(id: string): Promise<CustomerUsage>;
  /** The customers that were not used for some days. */
  inactive(days: number): Promise<string[]>;
  /** Removes the folders of customers that other machines have deleted. @returns whose they were */
  removeDeleted(): Promise<string[]>;
  /**
   * Removes everything of a customer, also while code of theirs runs: agents of this and of other processes end it.
   *
   * @param removeMore - Removes what there is elsewhere, once every machine has noticed. Tells whether there was any.
   * @throws CemError `CUSTOMER_NOT_FOUND`
   */
  remove(id: string, removeMore?: () => Promise<boolean>): Promise<void>;
}

/** @param root - Absolute path of the folder with one folder for each customer. */
export function createCustomerFolders(
  root: string,
  { quotas = [], clock = thisMachine, store, noticeMs = NOTICE_MS }: CustomerFoldersSettings = {},
): CustomerFolders {
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
    return store !== undefined && (await store.list(keyOfCustomer(id), { limit: 1 })).length > 0;
  }

  async function removeHere(id: string): Promise<void> {
    // Before and after, so that neither who comes back meanwhile nor a run that begins meanwhile gets its quota anew.
    await keepQuotas(root, id, { home: homeOf(id), clock });
    // Out of the way at once: what opens the customer meanwhile finds nothing else.
    const leaving = path.join(root, `${LEAVING}${id}-${process.hrtime.bigint()}`);
    await rename(homeOf(id), leaving).catch(ignoreMissing);
    await keepQuotas(root, id, { home: leaving, clock });
    await removeLeft(root);
  }

  async function requireHome(id: string): Promise<string> {
    if (!(await isHere(id))) throw notFound(id, await list());
    return homeOf(id);
  }

  return {
    list,
    async open(id) {
      const home = homeOf(id);
      if (store !== undefined) {
        await assertNotDeleting(store, id);
        await removeStale(home, store);
      }
      const made = await mkdir(home, { recursive: true, mode: PRIVATE });
      if (store !== undefined && made !== undefined) await markFolder(home, store);
      if (store === undefined && made !== undefined) await restoreQuotas(root, id, { home, clock });
      const folder: CustomerFolder = {
        id,
        home,
        workspaceDir: path.join(home, "workspace"),
        skillsDir: path.join(home, "skills"),
        mergedSkillsDir: path.join(home, ".skills"),
        sessionsDir: path.join(home, "sessions"),
        authDir: path.join(home, "auth"),
        vaultDir: path.join(home, "vault"),
        workflowsDir: path.join(home, "workflows"),
        cacheDir: path.join(home, "cache"),
      };
      for (const part of [folder.workspaceDir, folder.mergedSkillsDir, folder.sessionsDir]) {
        await mkdir(part, { recursive: true, mode: PRIVATE });
      }
      await noteUse(home, clock);
      return folder;
    },
    async usage(id) {
      const home = store === undefined || !isCustomerId(id) ? await requireHome(id) : homeOf(id);
      const size = await measure(home);
      const elsewhere = store && (await sharedIdleMs(store, id));
      // Other machines may know of it.
      if (size.entries === 0 && elsewhere === undefined && !(await isInStore(id))) await requireHome(id);
      const idle = Math.min(elsewhere ?? Infinity, await idleMs(home, clock));
      const lastUsed = new Date(clock.wallMs() - idle).toISOString();
      const kept = store === undefined ? createUsageFile(home, clock) : createSharedUsage(store, id);
      const used = quotas.length === 0 ? undefined : await readQuotas(kept, quotas);
      return { id, ...size, lastUsed, quotas: used };
    },
    async inactive(days) {
      const ids = await listHere();
      const isIdle = (idle: number | undefined): boolean => (idle ?? Infinity) > days * MS_PER_DAY;
      const inactive: string[] = [];
      for (const id of ids) {
        if (!isIdle(await idleMs(path.join(root, id), clock))) continue;
        if (store === undefined || isIdle(await sharedIdleMs(store, id))) inactive.push(id);
      }
      return inactive;
    },
    async removeDeleted() {
      if (store === undefined) return [];
      const removed: string[] = [];
      for (const id of await everDeleted(store, await listHere()))
        if (await removeStale(path.join(root, id), store)) removed.push(id);
      return removed;
    },
    async remove(id, removeMore = async () => false) {
      let wasThere = await isHere(id);
      if (store === undefined) {
        if (wasThere) await removeHere(id);
        wasThere = (await removeMore()) || wasThere;
      } else {
        wasThere = (await isInStore(id)) || wasThere;
        await removeShared(store, id, {
          noticeMs,
          async removeMore() {
            if (await isHere(id)) await removeHere(id);
            wasThere = (await removeMore()) || wasThere;
          },
        });
      }
      if (!wasThere) throw notFound(id, await list());
    },
  };
}

/** How long a customer was not at work. A folder that was put back from elsewhere, or that somebody dated back, says so itself. */
async function idleMs(home: string, clock: MachineClock): Promise<number> {
  const found = await lstat(home).catch(ignoreMissing);
  if (found === undefined) return 0;
  const usage = await readStored(home);
  const agoMs = Math.max(0, clock.wallMs() - found.mtimeMs);
  if (usage === undefined || found.mtimeMs < usage.time.wallMs - DATED_BACK_MS) return agoMs;
  // Begins to count on this machine, or after its restart, so that a time of day that went back does not hold for ever.
  if (usage.time.machines[clock.machine] === undefined)
    await updateUsage(home, () => {}, clock).catch(() => {});
  return advance(usage.time, clock).nowMs - usage.lastUsedMs;
}

/** How long a customer was at work on no machine. `undefined` where the store does not know. */
async function sharedIdleMs(store: Store, id: string): Promise<number | undefined> {
  const usage = await createSharedUsage(store, id).read();
  return usage && usage.time.nowMs - usage.lastUsedMs;
}

/** Removes customers on their way out, also those that a process which was killed has left. */
async function removeLeft(root: string): Promise<void> {
  const names = (await readdir(root)).filter((name) => name.startsWith(LEAVING));
  // Code that still runs there may add files until it is ended.
  const options = { recursive: true, force: true, maxRetries: REMOVE_RETRIES, retryDelay: REMOVE_RETRY_MS };
  await Promise.all(names.map((name) => rm(path.join(root, name), options)));
}

/** Counts without following links. */
async function measure(folder: string): Promise<{ bytes: number; entries: number }> {
  let [bytes, entries] = [0, 0];
  const pending = [folder];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const opened = await opendir(next).catch(ignoreMissing);
    if (opened === undefined) continue;
    for await (const entry of opened) {
      entries += 1;
      const file = path.join(next, entry.name);
      if (entry.isDirectory()) pending.push(file);
      else bytes += (await lstat(file).catch(ignoreMissing))?.size ?? 0;
    }
  }
  return { bytes, entries };
}

function notFound(id: string, known: readonly string[]): CemError {
  return new CemError("CUSTOMER_NOT_FOUND", `There is no customer ${JSON.stringify(id.slice(0, 80))}.`, {
    details: { customer: id.slice(0, 80), known },
  });
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") throw error;
}
