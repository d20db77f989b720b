import { CemError } from "@cem/core";
import { workspaceGone } from "./blobs.ts";
import {
  filesIn,
  hasNewSignature,
  isGone,
  isSetBack,
  isUnchanged,
  pickCommon,
  sharedHere,
  withNames,
} from "./common-state.ts";
import type { CommonState, LocalRecord } from "./common-state.ts";
import { bytesOfPieces, ChangedMeanwhile, isSame } from "./file-content.ts";
import type { FileEntry, Files, LocalFile } from "./file-content.ts";
import type { LocalFolders } from "./local-folders.ts";
import { mergeStates, reconcile } from "./reconcile.ts";
import type { Scanned } from "./scan-folders.ts";
import { lineAfter, newHead } from "./shared-copy.ts";
import type { Head, ReadHead, SharedCopy } from "./shared-copy.ts";
import { applyPlan, createFileSender } from "./transfer.ts";

const MAX_SHOWN = 10;
const SET_BACK =
  "The store with the list of the shared files was set back to an earlier state. Newer files that this machine still has are kept, beside the earlier ones.";

/** The first remarks for a run's result, and those on files that can't be shared. */
function listRemarks(remarks: readonly string[], left: readonly string[]): string[] {
  const shown = left.slice(0, MAX_SHOWN).map((one) => `Not shared with other machines: ${one}.`);
  const more = remarks.length + left.length - MAX_SHOWN - shown.length;
  const all = [...remarks.slice(0, MAX_SHOWN), ...shown];
  return more > 0 && all.length >= MAX_SHOWN ? [...all, `And ${more} more.`] : all;
}

export interface SyncSides {
  shared: SharedCopy;
  local: LocalFolders;
  record: LocalRecord;
  /** Whether the folders still belong to the workspace. */
  isThere?: (() => Promise<boolean>) | undefined;
}

export interface Synced {
  remarks: string[];
  /** Whether files were fetched. */
  isFetched: boolean;
  /** Whether the shared copy was changed. */
  isWritten: boolean;
}

const NOTHING: Synced = { remarks: [], isFetched: false, isWritten: false };

/**
 * Begins one synchronization, which is retried if something changed meanwhile. Pieces that were already sent are not sent
 * again.
 *
 * @returns A function that makes an attempt. Its argument is whether to read the head instead of using the last known one.
 *   It throws CemError `STORE_CONFLICT` or ChangedMeanwhile if it has to be retried.
 */
export function createSync(
  { shared, local, record, isThere }: SyncSides,
  kind: "fetch" | "put",
): (isRead: boolean) => Promise<Synced> {
  const sender = createFileSender({ shared, local, isThere });
  /** The salt of what was sent, and the manifest of a head that was written where there was none. */
  let [salt, first] = ["", ""];
  const remarks = new Set<string>();

  async function run(states: readonly CommonState[], read: ReadHead): Promise<Synced> {
    await sender.begin(read.head);
    await shared.assertHere(read.head);
    const last = pickCommon(states, read);
    const wasSetBack = isSetBack(read, last);
    const common = wasSetBack ? undefined : last;
    if (wasSetBack && !remarks.has(SET_BACK)) process.emitWarning(SET_BACK, "CemWarning");
    if (wasSetBack) remarks.add(SET_BACK);
    const roots = local.identities();
    if (isGone(read, common)) {
      await local.clear();
      await sender.takeBack();
      await record.write([{ ...read, files: new Map(), roots }]);
      if (kind === "put") throw workspaceGone();
      return { ...NOTHING, isFetched: true };
    }
    const found = read.head?.manifest === undefined ? newHead(read.head) : read.head;
    const head = { ...found, place: shared.blobs.place };
    const known = common?.head?.salt === head.salt ? filesIn(common, roots) : new Map<string, LocalFile>();
    const scanned = await local.scan(head.salt, known);
    const { files, left } = scanned;
    if (common?.version === read.version && isUnchanged(common.files, files)) {
      // More signatures are reliable now.
      if (hasNewSignature(common.files, files) || states.length > 1)
        await record.write([{ ...common, files: withNames(common.files, files), roots }]);
      return { ...NOTHING, remarks: listRemarks([...remarks], left) };
    }
    return bringTogether({ read, common, roots }, { head, known, scanned });
  }

  /** @param common - The last common state of this machine and the shared copy. */
  async function bringTogether(
    { read, common, roots }: { read: ReadHead; common: CommonState | undefined; roots: CommonState["roots"] },
    { head, known, scanned: { files, left } }: { head: Head; known: Files; scanned: Scanned },
  ): Promise<Synced> {
    ({ salt } = head);
    const isSameSalt = common?.head?.salt === salt;
    const isCurrent = common?.version === read.version;
    const remote = isCurrent && isSameSalt ? common.files : await shared.readFiles(head);
    const base = new Map<string, FileEntry>(known);
    const merged = await mergeStates({ base, local: files, remote }, { local, shared, salt });
    for (const { path, file } of merged) {
      files.set(path, file);
      base.set(path, remote.get(path) as FileEntry);
    }
    const plan = reconcile({ base, local: files, remote });
    for (const { path, beside } of plan.conflicts)
      remarks.add(`Two runs changed /${path} at the same time. Both are kept: one there, one as /${beside}.`);
    for (const path of plan.revived)
      remarks.add(`One run deleted /${path} while another changed it. It is kept, as it was changed.`);
    const sides = { shared, local, files, remote, salt };
    const isFetched = await applyPlan(plan, sides);
    // Recorded now: if interrupted later, fetched files that are then changed would look like conflicts.
    let reachedBefore = common;
    if ((isFetched || merged.length > 0) && isSameSalt && !isCurrent) {
      reachedBefore = { ...common, files: sharedHere(files, remote, base), roots };
      await record.write([reachedBefore]);
    }
    const target = await sender.send(plan, sides);
    const isWritten = !isUnchanged(remote, target);
    const reached: CommonState = { ...read, files: target, roots };
    if (isWritten)
      await publish({ ...reached, head }, { before: reachedBefore, replaced: bytesOfPieces(remote, target) });
    else {
      await sender.settle();
      await record.write([reached]);
    }
    return { isFetched, isWritten, remarks: listRemarks([...remarks], left) };
  }

  /** Publishes files. Both states are recorded first, since after an interruption it is unknown which one was reached. */
  async function publish(
    { head, ...reached }: CommonState & { head: Head },
    { before, replaced }: { before: CommonState | undefined; replaced: number },
  ): Promise<void> {
    const { manifest, bytes } = sender.sendManifest(reached.files, head.salt);
    if (reached.version === "") first = String(manifest);
    // Counts the manifest too, since each is replaced by the next.
    const next = {
      ...reached,
      head: { ...head, manifest, line: lineAfter(head), replaced: (head.replaced ?? 0) + replaced + bytes },
    };
    await record.write([next, before ?? { head: undefined, version: "", files: new Map(), roots: {} }]);
    await sender.settle();
    // Recorded with the version, since the head no longer identifies the reached state once others have published.
    const version = await shared.writeHead(next.head, reached.version);
    await record.write([{ ...next, version }]);
  }

  /** Takes back what was written while the workspace was deleted: the deletion may have removed only what came before. */
  async function assertThere(): Promise<void> {
    if ((await isThere?.().catch(() => true)) !== false) return;
    await sender.end();
    const { head, version } = await shared.readHead();
    const isFirst = first !== "" && String(head?.manifest) === first;
    if (isFirst) await shared.removeHead(version);
    // Others may have gone on with a workspace that is still there, and its deletion finds what has been sent by now.
    if (isFirst || head?.manifest === undefined || head.salt !== salt) await sender.takeBack();
    throw workspaceGone();
  }

  return async (isRead) => {
    const states = await record.read();
    const [newest] = states;
    const read =
      kind === "put" && !isRead && newest !== undefined && states.length === 1
        ? { head: newest.head, version: newest.version }
        : await shared.readHead();
    try {
      return await run(states, read);
    } catch (error) {
      // A piece of an outdated head may have been removed.
      const isAbsent = CemError.isInstance(error) && error.code.startsWith("FILES_");
      if (isAbsent && (await shared.readHead()).version !== read.version)
        throw new ChangedMeanwhile(error.message);
      throw error;
    } finally {
      await assertThere();
    }
  };
}

const SESSION_LOG = /^(?:workspace\/)?sessions\//;

/** The local changes since the last synchronization. Takes no lock and makes no requests. */
export async function changedHere({
  local,
  record,
}: Omit<SyncSides, "shared">): Promise<"nothing" | "logs of sessions" | "files"> {
  const [common, ...older] = await record.read();
  if (common?.head?.manifest === undefined || older.length > 0) return "files";
  const roots = local.identities();
  if (Object.keys(roots).some((name) => roots[name] !== common.roots[name])) return "files";
  const { files, left } = await local.scan(common.head.salt, common.files);
  if (left.length > 0) return "files";
  const changed = [...new Set([...common.files.keys(), ...files.keys()])].filter(
    (path) => !isSame(common.files.get(path), files.get(path)),
  );
  if (!changed.every((path) => SESSION_LOG.test(path))) return "files";
  return changed.length > 0 || hasNewSignature(common.files, files) ? "logs of sessions" : "nothing";
}
