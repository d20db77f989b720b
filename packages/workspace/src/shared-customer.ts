import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { existsSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { CemError, updateStored } from "@cem/core";
import type { Store, StoreKey } from "@cem/core";
import { QUOTA_PERIODS, upToDate } from "./customer-usage.ts";
import type { StoredUsage, UsageKeeper } from "./customer-usage.ts";
import { digestOf, usedQuotas } from "./kept-quotas.ts";
import { followFolder } from "./same-folder.ts";

/** The file in a customer's folder that names the last deletion of the customer before the folder was made. */
const MARKER = ".deletion";
const MARKER_MODE = 0o600;
/** How long an answer of the store counts. */
const LOOK_PERIOD_MS = 1_000;
/** By then every machine has looked, and has sent what it was sending. */
export const NOTICE_MS = 2 * LOOK_PERIOD_MS;
/** A deletion that takes longer was broken off. */
const DELETING_HOLDS_MS = 120_000;
const MS_PER_SECOND = 1_000;
/** Together half a minute. */
export const REMOVE_RETRIES = 40;
export const REMOVE_RETRY_MS = 40;
/** Sorts after every other part of a key. */
const LAST_PART = "\u{10ffff}";

/** All that a store has of a customer is below this key. */
export function keyOfCustomer(id: string, ...parts: string[]): StoreKey {
  return ["customers", id, ...parts];
}

/** What a customer has used on all machines, by the store's clock. */
export function createSharedUsage(store: Store, id: string): UsageKeeper {
  const key = keyOfCustomer(id, "usage");
  const begun = (nowMs: number): StoredUsage => ({
    version: 1,
    time: { nowMs, wallMs: nowMs, machines: {} },
    lastUsedMs: 0,
    periods: {},
  });
  const parse = (found: Uint8Array | undefined, nowMs: number): StoredUsage | undefined =>
    found && upToDate(JSON.parse(Buffer.from(found).toString("utf8")) as StoredUsage, nowMs);
  /** Quota that was used before the customer was deleted. */
  const readKept = async (nowMs: number): Promise<StoredUsage | undefined> =>
    parse((await store.read(quotasKey(id)))?.value, nowMs);
  /** Those of one process wait for each other, where they would only be faster than each other by turns. */
  let before: Promise<unknown> = Promise.resolve();
  return {
    async read() {
      const [found, nowMs] = await Promise.all([store.read(key), store.now()]);
      return parse(found?.value, nowMs) ?? readKept(nowMs);
    },
    update(change, { isNew = true } = {}) {
      const updated = before.then(async () => {
        const nowMs = await store.now();
        return updateStored(store, key, async (found) => {
          const usage = parse(found, nowMs) ?? (await readKept(nowMs)) ?? begun(nowMs);
          const result = change(usage);
          const isKept = found !== undefined || isNew;
          return { value: isKept ? Buffer.from(JSON.stringify(usage)) : undefined, result };
        });
      });
      before = updated.catch(() => {});
      return updated;
    },
  };
}

/**
 * Tells whether a customer is still the one that there was when the folder was made: it may have been deleted, here or by
 * another machine.
 */
export function followCustomer(home: string, store: Store | undefined): () => Promise<boolean> {
  const isSame = followFolder(home);
  if (store === undefined) return isSame;
  const id = path.basename(home);
  let made: string | undefined;
  let looked: { atMs: number; isThere: Promise<boolean> } | undefined;
  const look = async (): Promise<boolean> => {
    made ??= await incarnationOf(home);
    return !isAfter(await lastDeletion(store, id), made);
  };
  return async () => {
    if (!(await isSame())) return false;
    const nowMs = performance.now();
    if (looked === undefined || nowMs - looked.atMs > LOOK_PERIOD_MS) {
      const isThere = look();
      looked = { atMs: nowMs, isThere };
      isThere.catch(() => (looked = undefined));
    }
    return looked.isThere;
  };
}

/** Whether there is a customer now: their folder, and no deletion by another machine since it was made. */
export async function isCustomerThere(home: string, store: Store): Promise<boolean> {
  return (
    existsSync(home) && !isAfter(await lastDeletion(store, path.basename(home)), await incarnationOf(home))
  );
}

/**
 * Has other machines end what runs there of a customer and remove what they have, then removes all that the store has. Until
 * then nobody opens the customer anew: what is removed is the old one's.
 *
 * @param noticeMs - How long the others may take to notice.
 * @param removeMore - Removes what there is beyond the store's.
 */
export async function removeShared(
  store: Store,
  id: string,
  { noticeMs, removeMore }: { noticeMs: number; removeMore: () => Promise<void> },
): Promise<void> {
  await store.write(deletingKey(id), Buffer.from("1"), { expiresInMs: DELETING_HOLDS_MS });
  await store.write(deletionKey(id), Buffer.from(randomUUID()));
  await sleep(noticeMs);
  await removeMore();
  await keepSharedQuotas(store, id);
  await store.removeAll(keyOfCustomer(id));
  await store.remove(deletingKey(id));
}

/** Keeps what a customer who is being deleted has used of its quotas until the periods end. */
async function keepSharedQuotas(store: Store, id: string): Promise<void> {
  const usage = await createSharedUsage(store, id).read();
  const used = usage && usedQuotas(usage);
  if (used === undefined) return;
  const value = Buffer.from(JSON.stringify(used));
  await store.write(quotasKey(id), value, { expiresInMs: QUOTA_PERIODS.week });
}

/** @throws CemError `CUSTOMER_GONE` while the customer is being deleted. */
export async function assertNotDeleting(store: Store, id: string): Promise<void> {
  if ((await store.read(deletingKey(id))) === undefined) return;
  throw new CemError(
    "CUSTOMER_GONE",
    `The customer ${id} is being deleted. Nothing was run. Try again in ${NOTICE_MS / MS_PER_SECOND} s.`,
    { details: { customer: id, retryAfterMs: NOTICE_MS } },
  );
}

/** Whether a customer was not deleted since an incarnation of it began. */
export async function isIncarnationThere(store: Store, id: string, incarnation: string): Promise<boolean> {
  return !isAfter(await lastDeletion(store, id), incarnation);
}

/** Removes a customer's folder where the customer was deleted by another machine since it was made. @returns whether */
export async function removeStale(home: string, store: Store): Promise<boolean> {
  if (!isAfter(await lastDeletion(store, path.basename(home)), await incarnationOf(home))) return false;
  // Code that still runs there may add files until it is ended.
  await rm(home, { recursive: true, force: true, maxRetries: REMOVE_RETRIES, retryDelay: REMOVE_RETRY_MS });
  return true;
}

/** Notes in a new folder which deletion of the customer came before it. */
export async function markFolder(home: string, store: Store): Promise<void> {
  const last = await lastDeletion(store, path.basename(home));
  if (last !== "") await writeFile(path.join(home, MARKER), last, { mode: MARKER_MODE });
}

/** The ids of the customers of whom a store has something. */
export async function sharedCustomers(store: Store): Promise<string[]> {
  const ids: string[] = [];
  for (;;) {
    const last = ids.at(-1);
    const after = last === undefined ? undefined : keyOfCustomer(last, LAST_PART);
    const [next] = await store.list(["customers"], { after, limit: 1 });
    const id = next?.[1];
    if (id === undefined) return ids;
    ids.push(id);
  }
}

/** Those of some customers that were ever deleted. */
export async function everDeleted(store: Store, ids: readonly string[]): Promise<string[]> {
  const deleted = new Set<string>();
  let after: StoreKey | undefined;
  do {
    const page = await store.list(["deleted"], { after });
    for (const [, digest = ""] of page) deleted.add(digest);
    after = page.at(-1);
  } while (after !== undefined);
  return ids.filter((id) => deleted.has(digestOf(id)));
}

/** A store that has lost what it knew has no say. */
function isAfter(deletion: string, marker: string): boolean {
  return deletion !== "" && deletion !== marker;
}

async function lastDeletion(store: Store, id: string): Promise<string> {
  const found = await store.read(deletionKey(id));
  return found === undefined ? "" : Buffer.from(found.value).toString("utf8");
}

/** Names which of the customers with an id has a folder: after a deletion another one may come. Empty before the first. */
export async function incarnationOf(home: string): Promise<string> {
  return readFile(path.join(home, MARKER), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw error;
  });
}

/** What is left of a customer who was deleted tells nobody who it was. */
function deletionKey(id: string): StoreKey {
  return ["deleted", digestOf(id)];
}

function deletingKey(id: string): StoreKey {
  return ["deleting", digestOf(id)];
}

function quotasKey(id: string): StoreKey {
  return ["quotas", digestOf(id)];
}
