import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile, stat, utimes, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { CemError, keysIn, updateStored } from "@cem/core";
import type { RunStop, Store, StoreKey } from "@cem/core";
import { ignoreMissing, PRIVATE_FILE, removeFolder } from "@cem/core/files";
import { digestOf } from "./quotas.ts";

/** The file in a customer's folder that names the last deletion of the customer before the folder was made. */
const MARKER = ".deletion";
/** How long an answer of the store counts. */
const LOOK_PERIOD_MS = 1_000;
/** By then every machine has looked, and has sent what it was sending. */
export const NOTICE_MS = 2 * LOOK_PERIOD_MS;
/** A deletion under way says so in this time, again and again. Else it was broken off, and others go on with it. */
const HOLDS_MS = 30_000;
const SIGNS_PER_HOLD = 3;
const MS_PER_SECOND = 1_000;
/** Sorts after every other part of a key. */
const LAST_PART = "\u{10ffff}";

/** All that a store has of a customer is below this key. */
export function ownerKey(id: string, ...parts: string[]): StoreKey {
  return ["customers", id, ...parts];
}

/** Notes that a customer is at work: as the time of the folder, and in the store by its clock. */
export async function noteUse(home: string, store: Store | undefined): Promise<void> {
  const now = new Date();
  await utimes(home, now, now);
  if (store === undefined) return;
  const nowMs = await store.now();
  await store.write(ownerKey(path.basename(home), "used"), Buffer.from(String(nowMs)));
}

/** How long a customer was at work on no machine, in milliseconds. `undefined` where nothing is known of them. */
export async function idleMsOf(home: string, store: Store | undefined): Promise<number | undefined> {
  const folder = await stat(home).catch(() => undefined);
  const here = folder && Math.max(0, Date.now() - folder.mtimeMs);
  const noted = await store?.read(ownerKey(path.basename(home), "used"));
  if (store === undefined || noted === undefined) return here;
  const usedMs = Number(Buffer.from(noted.value).toString("utf8"));
  if (Number.isNaN(usedMs)) throw new CemError("STORE_SEALED", "The store is sealed, and no key was given.");
  return Math.min(here ?? Infinity, (await store.now()) - usedMs);
}

/**
 * Tells whether a customer is still the one that there was when the folder was made: it may have been deleted, here or by
 * another machine.
 */
export function followOwner(home: string, store: Store | undefined): () => Promise<boolean> {
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

/** Whether there is a customer now: their folder, and no deletion by another machine since it was made. */
export async function isOwnerThere(home: string, store: Store): Promise<boolean> {
  return existsSync(home) && !(await isStale(home, store));
}

/**
 * Has other machines end what runs there of a customer and remove what they have, then removes all that the store has. Until
 * then nobody opens the customer anew, also where this is broken off: what is removed is the old one's.
 *
 * @param noticeMs - How long the others may take to notice.
 * @param removeMore - Removes what there is beyond the store's.
 * @param isBegun - Whether to go on with what was broken off, unless somebody has finished it.
 * @returns `false` where another process is deleting the customer.
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
    await store.write(deletionKey(id), Buffer.from(randomUUID()));
    await sleep(noticeMs);
    await removeMore();
    await store.removeAll(ownerKey(id));
    await store.remove(deletingKey(id));
    return true;
  } finally {
    clearInterval(holding);
    await store.remove(held).catch(() => {});
  }
}

/** The customers whose deletion is under way or was broken off. Marks of earlier versions name nobody, and expire. */
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
export function ownerGone(customer: string, outcome = "Nothing was run."): CemError {
  const { message, details } = goneStop(customer, outcome);
  return new CemError("OWNER_GONE", message, { details });
}

/**
 * @param goOn - Finishes a deletion that was broken off. Tells whether it did.
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

/** Whether a customer was not deleted since an incarnation of it began. A store that has lost what it knew has no say. */
export async function isIncarnationThere(store: Store, id: string, incarnation: string): Promise<boolean> {
  return ["", incarnation].includes(await textAt(store, deletionKey(id)));
}

async function isStale(home: string, store: Store): Promise<boolean> {
  return !(await isIncarnationThere(store, path.basename(home), await incarnationOf(home)));
}

/** Removes a customer's folder where the customer was deleted by another machine since it was made. @returns whether */
export async function removeStale(home: string, store: Store): Promise<boolean> {
  if (!(await isStale(home, store))) return false;
  await removeFolder(home);
  return true;
}

/** Notes in a new folder which deletion of the customer came before it. */
export async function markFolder(home: string, store: Store): Promise<void> {
  const last = await textAt(store, deletionKey(path.basename(home)));
  if (last !== "") await writeFile(path.join(home, MARKER), last, { mode: PRIVATE_FILE });
}

/** The ids of the customers of whom a store has something. */
export async function sharedCustomers(store: Store): Promise<string[]> {
  const ids: string[] = [];
  for (;;) {
    const last = ids.at(-1);
    const after = last === undefined ? undefined : ownerKey(last, LAST_PART);
    const [next] = await store.list(["customers"], { after, limit: 1 });
    const id = next?.[1];
    if (id === undefined) return ids;
    ids.push(id);
  }
}

/** Those of some customers that were ever deleted. */
export async function everDeleted(store: Store, ids: readonly string[]): Promise<string[]> {
  const deleted = new Set<string>();
  for await (const [, digest = ""] of keysIn(store, ["deleted"])) deleted.add(digest);
  return ids.filter((id) => deleted.has(digestOf(id)));
}

async function textAt(store: Store, key: StoreKey): Promise<string> {
  const found = await store.read(key);
  return found === undefined ? "" : Buffer.from(found.value).toString("utf8");
}

/** Names which of the customers with an id has a folder: after a deletion another one may come. Empty before the first. */
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
 * Tells whether a folder is still the one that it was at the first call: it may have been removed, and another made in its
 * place.
 */
export function followFolder(folder: string): () => Promise<boolean> {
  let first: { dev: bigint; ino: bigint; bornNs: bigint } | undefined;
  return async () => {
    const found = await stat(folder, { bigint: true }).catch(() => undefined);
    if (found?.isDirectory() !== true) return false;
    const { dev, ino, birthtimeNs, ctimeNs } = found;
    // Where there is no time of birth, the time of the last change stands in its place.
    const bornNs = birthtimeNs === ctimeNs ? 0n : birthtimeNs;
    first ??= { dev, ino, bornNs };
    if (dev !== first.dev || ino !== first.ino) return false;
    // A number may be given to another folder. The time of birth is not known on every file system.
    if (first.bornNs === 0n) first = { dev, ino, bornNs };
    return bornNs === 0n || bornNs === first.bornNs;
  };
}
