import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile, stat, utimes, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { CemError, keysIn, MS_PER_SECOND, updateStored } from "@cem/core";
import type { RunStop, Store, StoreKey } from "@cem/core";
import { ignoreMissing, PRIVATE_FILE, removeFolder } from "@cem/core/files";
import { digestOf, ifUnsealed } from "./quotas.ts";

/** The file in a customer's folder that identifies the customer's last deletion before the folder was created. */
const MARKER = ".deletion";
/** How long an answer of the store is cached. */
const LOOK_PERIOD_MS = 1_000;
/** After this time every machine has checked, and has finished its uploads. */
export const NOTICE_MS = 2 * LOOK_PERIOD_MS;
/** Lease of a running deletion, which is renewed repeatedly. When it expires, others resume the deletion. */
const HOLDS_MS = 30_000;
const SIGNS_PER_HOLD = 3;
const SET_BACK =
  "Customers have folders that are newer than the last deletion of them in the store: it was set back, such as to a backup. The folders are kept. Delete again who was deleted since.";
let hasWarned = false;
/** Sorts after every other part of a key. */
const LAST_PART = "\u{10ffff}";

/** The key prefix of all data of a customer in a store. */
export function customerKey(id: string, ...parts: string[]): StoreKey {
  return ["customers", id, ...parts];
}

/** Records a customer's activity: as the folder's time, and in the store by its clock. */
export async function noteUse(home: string, store: Store | undefined): Promise<void> {
  const now = new Date();
  await utimes(home, now, now);
  if (store === undefined) return;
  const nowMs = await store.now();
  await store.write(customerKey(path.basename(home), "used"), Buffer.from(String(nowMs)));
}

/** How long a customer has been inactive on all machines, in milliseconds. `undefined` if unknown, also to this process. */
export async function idleMsOf(home: string, store: Store | undefined): Promise<number | undefined> {
  const folder = await stat(home).catch(() => undefined);
  const here = folder && Math.max(0, Date.now() - folder.mtimeMs);
  if (store === undefined) return here;
  const noted = await ifUnsealed(textAt(store, customerKey(path.basename(home), "used")));
  if (noted === "") return here;
  const usedMs = Number(noted);
  return Number.isNaN(usedMs) ? undefined : Math.min(here ?? Infinity, (await store.now()) - usedMs);
}

/**
 * Returns a function that tells whether a customer is still the one for which the folder was created, or was deleted by
 * this or another machine.
 */
export function followCustomer(home: string, store: Store | undefined): () => Promise<boolean> {
  const isSame = followFolder(home);
  if (store === undefined) return isSame;
  const id = path.basename(home);
  let made: string | undefined;
  let looked: { atMs: number; isThere: Promise<boolean> } | undefined;
  const look = async (): Promise<boolean> => {
    made ??= await incarnationOf(home);
    return isIncarnationThere(store, id, made);
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

/** Whether a customer exists: its folder exists, and no other machine has deleted it since. */
export async function customerExists(home: string, store: Store): Promise<boolean> {
  return existsSync(home) && !(await isStale(home, store));
}

/**
 * Makes other machines end a customer's runs and remove its data, then removes all its data in the store. Until then the
 * customer can't be opened again, even if this is interrupted, so that only old data is removed.
 *
 * @param noticeMs - How long the others may take to notice.
 * @param removeMore - Removes data outside the store.
 * @param isBegun - Whether to resume an interrupted deletion, unless it was completed.
 * @returns `false` if another process is deleting the customer.
 */
export async function removeShared(
  store: Store,
  id: string,
  { noticeMs, removeMore }: { noticeMs: number; removeMore: () => Promise<unknown> },
  isBegun = false,
): Promise<boolean> {
  const held = deletingKey(id, "held");
  const expires = { expiresInMs: HOLDS_MS };
  const isFree = await updateStored(store, held, (found) => {
    const result = found === undefined;
    return { value: result ? Buffer.of(1) : undefined, result, ...expires };
  });
  if (!isFree) return false;
  const hold = (): void => void store.write(held, Buffer.of(1), expires).catch(() => {});
  const holding = setInterval(hold, HOLDS_MS / SIGNS_PER_HOLD);
  try {
    if (isBegun && (await textAt(store, deletingKey(id))) === "") return true;
    await store.write(deletingKey(id), Buffer.from(id));
    const atMs = Math.max(await store.now(), orderOf(await textAt(store, deletionKey(id))) + 1);
    await store.write(deletionKey(id), Buffer.from(`${atMs}.${randomUUID()}`));
    await sleep(noticeMs);
    await removeMore();
    await store.removeAll(customerKey(id));
    await store.remove(deletingKey(id));
    return true;
  } finally {
    clearInterval(holding);
    await store.remove(held).catch(() => {});
  }
}

/** The customers whose deletion is running or was interrupted. Marks of earlier versions contain no id, and expire. */
export async function beingDeleted(store: Store): Promise<string[]> {
  const ids: string[] = [];
  for await (const key of keysIn(store, ["deleting"])) {
    const id = await textAt(store, key);
    if (digestOf(id) === key[1]) ids.push(id);
  }
  return ids;
}

/** The reason why runs of a deleted customer end. */
export function goneStop(customer: string, outcome: string): RunStop {
  const message = `The customer ${customer} was deleted. ${outcome}`;
  return { code: "OWNER_GONE", message, details: { customer } };
}

/** The end of a run of a deleted customer. */
export function customerGone(customer: string, outcome = "Nothing was run."): CemError {
  const { message, details } = goneStop(customer, outcome);
  return new CemError("OWNER_GONE", message, { details });
}

/**
 * @param goOn - Completes an interrupted deletion. Returns whether it did.
 * @throws CemError `OWNER_GONE` while the customer is being deleted.
 */
export async function assertNotDeleting(
  store: Store,
  id: string,
  goOn: () => Promise<boolean>,
): Promise<void> {
  const mark = await textAt(store, deletingKey(id));
  if (mark === "" || (mark === id && (await goOn()))) return;
  throw new CemError(
    "OWNER_GONE",
    `The customer ${id} is being deleted. Nothing was run. Try again in ${NOTICE_MS / MS_PER_SECOND} s.`,
    { details: { customer: id, retryAfterMs: NOTICE_MS } },
  );
}

/**
 * Whether an incarnation of a customer still exists. It counts as existing if the store has lost its data, or was set back to
 * an earlier state: the store's last deletion is then not known to be later than the one before the incarnation.
 */
export async function isIncarnationThere(store: Store, id: string, incarnation: string): Promise<boolean> {
  const last = await textAt(store, deletionKey(id));
  if (last === "" || last === incarnation) return true;
  if (incarnation === "" || orderOf(last) > orderOf(incarnation)) return false;
  if (!hasWarned) process.emitWarning(SET_BACK, "CemWarning");
  hasWarned = true;
  return true;
}

/** The time of a deletion by the store's clock. Marks of earlier versions have none. */
function orderOf(mark: string): number {
  const [atMs, uuid] = mark.split(".");
  return uuid === undefined ? 0 : Number(atMs);
}

async function isStale(home: string, store: Store): Promise<boolean> {
  return !(await isIncarnationThere(store, path.basename(home), await incarnationOf(home)));
}

/** Removes a customer's folder if another machine has deleted the customer since it was created. @returns whether it was removed */
export async function removeStale(home: string, store: Store): Promise<boolean> {
  if (!(await isStale(home, store))) return false;
  await removeFolder(home);
  return true;
}

/** Records in a new folder the customer's last deletion before it. */
export async function markFolder(home: string, store: Store): Promise<void> {
  const last = await textAt(store, deletionKey(path.basename(home)));
  if (last !== "") await writeFile(path.join(home, MARKER), last, { mode: PRIVATE_FILE });
}

/** The keys of a store below which it has data of a customer, or of all of them: their own, and their shared files. */
export function sharedKeys(id?: string): StoreKey[] {
  const key = id === undefined ? ["customers"] : customerKey(id);
  return [key, ["files", ...key]];
}

/** The ids of the customers with data in a store. */
export async function sharedCustomers(store: Store): Promise<string[]> {
  const ids: string[] = [];
  for (const prefix of sharedKeys()) {
    let after: StoreKey | undefined;
    for (;;) {
      const [next] = await store.list(prefix, { after, limit: 1 });
      const id = next?.[prefix.length];
      if (id === undefined) break;
      ids.push(id);
      after = [...prefix, id, LAST_PART];
    }
  }
  return ids;
}

export async function everDeleted(store: Store, ids: readonly string[]): Promise<string[]> {
  const deleted = new Set<string>();
  for await (const [, digest = ""] of keysIn(store, ["deleted"])) deleted.add(digest);
  return ids.filter((id) => deleted.has(digestOf(id)));
}

async function textAt(store: Store, key: StoreKey): Promise<string> {
  const found = await store.read(key);
  return found === undefined ? "" : Buffer.from(found.value).toString("utf8");
}

/**
 * The incarnation of the customer that owns a folder, since a new customer may have the id of a deleted one. Empty before
 * the first deletion.
 */
export async function incarnationOf(home: string): Promise<string> {
  return (await readFile(path.join(home, MARKER), "utf8").catch(ignoreMissing)) ?? "";
}

/** Key that marks a customer as deleted. The id is hashed, so that the mark doesn't identify the customer. */
function deletionKey(id: string): StoreKey {
  return ["deleted", digestOf(id)];
}

function deletingKey(id: string, ...parts: string[]): StoreKey {
  return ["deleting", digestOf(id), ...parts];
}

/**
 * Returns a function that tells whether a folder is still the same as at the first call, or was removed and recreated.
 */
export function followFolder(folder: string): () => Promise<boolean> {
  let first: { dev: bigint; ino: bigint; bornNs: bigint } | undefined;
  return async () => {
    const found = await stat(folder, { bigint: true }).catch(() => undefined);
    if (found?.isDirectory() !== true) return false;
    const { dev, ino, birthtimeNs, ctimeNs } = found;
    // Without a birth time, some file systems report the change time.
    const bornNs = birthtimeNs === ctimeNs ? 0n : birthtimeNs;
    first ??= { dev, ino, bornNs };
    if (dev !== first.dev || ino !== first.ino) return false;
    // An inode number may be reused. The birth time is not available on every file system.
    if (first.bornNs === 0n) first = { dev, ino, bornNs };
    return bornNs === 0n || bornNs === first.bornNs;
  };
}
