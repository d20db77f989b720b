import { setTimeout as sleep } from "node:timers/promises";
import { abandonOnAbort, CemError, createTurns, forClients, parseJson, toErrorInfo } from "@cem/core";
import type { Store, StoreKey, WorkspaceSync } from "@cem/core";
import pMap from "p-map";
import { withLock } from "../files/file-lock.ts";
import { filesUnavailable, untilAborted, workspaceGone } from "./blobs.ts";
import type { BlobStore, Limits } from "./blobs.ts";
import { createLocalRecord } from "./common-state.ts";
import { ChangedMeanwhile, PIECE_BYTES } from "./file-content.ts";
import { createLocalFolders } from "./local-folders.ts";
import type { Root } from "./scan-folders.ts";
import { createSharedCopy, isConflict, MARKED, PIECES_AT_ONCE } from "./shared-copy.ts";
import type { SharedCopy } from "./shared-copy.ts";
import { changedHere, createSync } from "./sync-attempt.ts";
import type { Synced } from "./sync-attempt.ts";

const REST: StoreKey = ["marked", "rest"];
const SHORT_REST: StoreKey = ["marked", "short-rest"];
/** The rest time if the replaced pieces exceed the workspace's limit: long enough for current readers. */
const SHORT_REST_MS = 120_000;

/**
 * Removes unreferenced pieces: replaced ones, and those sent by a killed machine. They are marked first, and removed if
 * they are still unreferenced some time later, by the store's clock. The head is written before, so that a machine with
 * sent but unreferenced pieces fails to publish them and sends them again. Names are never reused.
 *
 * @param restMs - That time. It is at most two minutes if the replaced pieces exceed the workspace's limit.
 * @returns the number of removed pieces.
 */
export async function collectGarbage(store: Store, shared: SharedCopy, restMs: number): Promise<number> {
  const { head, version } = await shared.readHead();
  if (head?.manifest === undefined) return 0;
  const { sweeps, replaced = 0 } = head;
  const isMuch = replaced > shared.limits.maxBytes;
  if ((await store.read(isMuch ? SHORT_REST : REST)) !== undefined) return 0;
  const names = parseJson((await store.read(MARKED))?.value ?? "[]");
  const marked = new Set(Array.isArray(names) ? names.map(String) : []);
  const used = new Set(head.manifest);
  for (const { pieces } of (await shared.readFiles(head)).values()) for (const name of pieces) used.add(name);
  const [unused, removed]: [string[], string[]] = [[], []];
  for await (const name of shared.blobs.names()) {
    if (!used.has(name)) (marked.has(name) ? removed : unused).push(name);
  }
  if (removed.length > 0) {
    try {
      const left = Math.min(replaced, unused.length * PIECE_BYTES);
      await shared.writeHead({ ...head, sweeps: sweeps + 1, replaced: left }, version);
    } catch (error) {
      // Another machine is active; try another time.
      if (isConflict(error)) return 0;
      throw error;
    }
    await pMap(removed, (name) => shared.blobs.remove(name), { concurrency: PIECES_AT_ONCE });
  }
  await store.write(MARKED, Buffer.from(JSON.stringify(unused)));
  await store.write(SHORT_REST, Buffer.of(1), { expiresInMs: Math.min(SHORT_REST_MS, restMs) });
  await store.write(REST, Buffer.of(1), { expiresInMs: restMs });
  return removed.length;
}

const MAX_ATTEMPTS = 30;
const MAX_PAUSE_MS = 50;
const LOCK_WAIT_MS = 600_000;
/** Maximum delay after a run before its session's log is uploaded, which bounds the loss of logs with a machine. */
const LOGS_FOLLOW_MS = 1_000;
const PUT_TRIES = 3;
const PUT_PAUSE_MS = 300;
/** How long closing, and a run that was aborted, wait for unresponsive storage. */
const LAST_WAIT_MS = 3_000;
const DEFAULT_GARBAGE_REST_MS = 86_400_000;
const GARBAGE_CHECK_MS = 60_000;

/** Settings of {@link createWorkspaceSync}. */
export interface WorkspaceSyncSettings {
  /** The part of a store that belongs to the workspace. */
  store: Store;
  /** Storage of the pieces of its files. */
  blobs: BlobStore;
  /** Its local folders, by their names in the shared copy. */
  roots: readonly Root[];
  /** The file in which this machine records its state, out of reach of code in the sandbox. */
  recordFile: string;
  /** Maximum number and total size of the files. */
  limits: Limits;
  /** Whether the folders still belong to the workspace. If not, they are not touched. */
  isThere?: (() => Promise<boolean>) | undefined;
  /** Called when files were fetched from elsewhere. */
  onFetched?: (() => Promise<void>) | undefined;
  /** Receives errors outside of runs. */
  onProblem?: ((error: unknown) => void) | undefined;
  /**
   * Time after which unreferenced pieces are removed, in milliseconds; two minutes if they exceed the limits.
   *
   * @defaultValue a day
   */
  garbageRestMs?: number | undefined;
}

/** Synchronizes a local workspace with a shared copy. */
export function createWorkspaceSync({
  store,
  blobs,
  roots,
  recordFile,
  limits,
  isThere,
  onFetched,
  onProblem,
  garbageRestMs = DEFAULT_GARBAGE_REST_MS,
}: WorkspaceSyncSettings): WorkspaceSync {
  const names = new Set(roots.map(({ name }) => name));
  /** Aborts when closing has waited long enough for storage. */
  const closing = new AbortController();
  /** Timers of aborted runs that give up storage. They start again with each answer. */
  const waits = new Set<NodeJS.Timeout>();
  /** The shared copy, for which nobody waits once a signal aborts. */
  const sharedUntil = (reads = closing.signal, writes = closing.signal) => {
    const signals = { reads, writes, others: closing.signal };
    const ending = untilAborted(blobs, signals, () => waits.forEach((timer) => timer.refresh()));
    return createSharedCopy({ store, blobs: ending, limits, roots: names });
  };
  const [local, record] = [createLocalFolders(roots, limits), createLocalRecord(recordFile)];
  const here = { local, record, isThere };
  const inTurn = createTurns();
  /** Whether there may be local changes that were not uploaded, because a process was killed or the storage was unreachable. */
  let isBehind = true;
  /** Set while a log, or what could not be uploaded after a run, waits to be uploaded. */
  let following: NodeJS.Timeout | undefined;
  let checkedGarbageAt = -Infinity;
  let collecting: Promise<unknown> = Promise.resolve();

  async function fetch(signal?: AbortSignal): Promise<string[]> {
    if (!isBehind) {
      const [known, ...older] = await here.record.read();
      const { version } = await sharedUntil().readHead();
      if (known?.version === version && older.length === 0) return [];
    }
    return sync("fetch", signal);
  }

  async function put(logsFollow: boolean, signal?: AbortSignal): Promise<string[]> {
    if (!isBehind && (await isThere?.()) !== false) {
      const changed = await changedHere(here);
      if (changed === "nothing" || (logsFollow && changed === "logs of sessions")) return [];
    }
    isBehind = true;
    return sync("put", signal);
  }

  /** Gives up storage that does not answer for some seconds from now on. */
  const giveUpSoon = (given: AbortController): NodeJS.Timeout =>
    setTimeout(() => {
      given.abort(filesUnavailable(blobs.location, "it did not answer until the end"));
    }, LAST_WAIT_MS);

  /** A run's changes are uploaded even if it was aborted, while storage answers. What was not is uploaded later. */
  async function putAfterRun(logsFollow: boolean, signal: AbortSignal | undefined): Promise<string[]> {
    const late = new AbortController();
    let waiting: NodeJS.Timeout | undefined;
    const onAbort = (): void => void waits.add((waiting = giveUpSoon(late)));
    if (signal?.aborted === true) onAbort();
    else signal?.addEventListener("abort", onAbort, { once: true });
    try {
      return await putPatiently(logsFollow, late.signal);
    } finally {
      signal?.removeEventListener("abort", onAbort);
      if (waiting !== undefined) waits.delete(waiting);
      clearTimeout(waiting);
    }
  }

  /** Returns a remark if changes could not be uploaded; they are kept locally. */
  async function putPatiently(logsFollow: boolean, signal?: AbortSignal): Promise<string[]> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await abandonOnAbort(put(logsFollow, signal), signal);
      } catch (error) {
        const { code, message } = forClients(toErrorInfo(error));
        const isOver = signal?.aborted === true || closing.signal.aborted;
        if (tries < PUT_TRIES && !isOver && code.endsWith("_UNAVAILABLE")) await sleep(PUT_PAUSE_MS * tries);
        else if (code === "OWNER_GONE") return [message];
        else {
          onProblem?.(error);
          return [
            `What the run wrote is kept on this machine only: ${message} It is shared before the next run here.`,
          ];
        }
      }
    }
  }

  /** Synchronizes one at a time, across the processes of this machine. */
  async function sync(kind: "fetch" | "put", signal?: AbortSignal): Promise<string[]> {
    const { remarks, isFetched, isWritten } = await inTurn(() =>
      withLock(recordFile, "the files of the workspace", () => syncLocked(kind, signal), LOCK_WAIT_MS),
    ).catch((error: unknown) => {
      isBehind = true;
      throw error;
    });
    isBehind = false;
    if (isFetched) await onFetched?.();
    if (isWritten) tidy();
    return remarks;
  }

  async function syncLocked(kind: "fetch" | "put", signal: AbortSignal | undefined): Promise<Synced> {
    signal?.throwIfAborted();
    if ((await isThere?.()) === false) throw workspaceGone();
    const ended = signal && AbortSignal.any([signal, closing.signal]);
    // Completes what was being sent when a run was aborted that was still fetching.
    const shared = sharedUntil(ended, kind === "put" ? ended : undefined);
    const attempt = createSync({ shared, ...here }, kind);
    for (let count = 0; count < MAX_ATTEMPTS; count += 1) {
      try {
        return await attempt(count > 0);
      } catch (error) {
        if (!isConflict(error) && !(error instanceof ChangedMeanwhile)) throw error;
        await sleep(Math.random() * MAX_PAUSE_MS * Math.min(count + 1, 10));
      }
    }
    throw new CemError(
      "STATE_BUSY",
      `Others have been changing the files of the workspace in each of ${MAX_ATTEMPTS} attempts to share them.`,
    );
  }

  /** Collects garbage occasionally, in the background. */
  function tidy(): void {
    const now = performance.now();
    if (now - checkedGarbageAt < Math.min(GARBAGE_CHECK_MS, garbageRestMs)) return;
    checkedGarbageAt = now;
    collecting = collectGarbage(store, sharedUntil(), garbageRestMs).catch((error: unknown) =>
      onProblem?.(error),
    );
  }

  return {
    specificationVersion: "v1",
    fetch,
    put: () => put(false),
    async during(work, { logsFollow = false, signal } = {}) {
      // The signal also cancels waiting for the lock.
      const remarks = await abandonOnAbort(fetch(signal), signal);
      try {
        const result = await work();
        return { result, remarks: [...remarks, ...(await putAfterRun(logsFollow, signal))] };
      } catch (error) {
        await putAfterRun(logsFollow, signal);
        throw error;
      } finally {
        // A log is written after its run was answered.
        if (logsFollow || isBehind)
          following ??= setTimeout(() => {
            following = undefined;
            void putPatiently(false);
          }, LOGS_FOLLOW_MS);
      }
    },
    async close() {
      clearTimeout(following);
      const late = giveUpSoon(closing);
      // The log of the last run may not be uploaded yet.
      await put(false).catch(() => {});
      await inTurn(() => {});
      await collecting;
      clearTimeout(late);
    },
  };
}

/**
 * Deletes the shared copy of a workspace.
 *
 * @returns whether it existed.
 */
export async function deleteSharedWorkspace({
  store,
  blobs,
}: Pick<WorkspaceSyncSettings, "store" | "blobs">): Promise<boolean> {
  return createSharedCopy({ store, blobs, roots: new Set(), limits: { maxFiles: 0, maxBytes: 0 } }).remove();
}
