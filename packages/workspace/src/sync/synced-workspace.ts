import { setTimeout as sleep } from "node:timers/promises";
import { abandonOnAbort, CemError, createTurns, forClients, parseJson, toErrorInfo } from "@cem/core";
import type { Store, StoreKey, WorkspaceSync } from "@cem/core";
import pMap from "p-map";
import { withLock } from "../files/file-lock.ts";
import { filesUnavailable, workspaceGone } from "./blobs.ts";
import type { BlobStore, Limits } from "./blobs.ts";
import { LocalRecord } from "./common-state.ts";
import { ChangedMeanwhile, PIECE_BYTES } from "./file-content.ts";
import { LocalFolders } from "./local-folders.ts";
import type { Root } from "./scan-folders.ts";
import { isConflict, MARKED, PIECES_AT_ONCE, SharedCopy } from "./shared-copy.ts";
import { changedHere, createSync } from "./sync-attempt.ts";
import type { Synced } from "./sync-attempt.ts";

const REST: StoreKey = ["marked", "rest"];
const SHORT_REST: StoreKey = ["marked", "short-rest"];
/** Where more was replaced than the workspace may hold: long enough for who is reading it. */
const SHORT_REST_MS = 120_000;

/**
 * Removes pieces that no manifest names: what was replaced, and what a machine that was killed had sent. They are marked first,
 * and removed when they are still not named some time later, on the store's own clock. The head is written before, so that who
 * sent pieces and has not named them yet fails to, and sends them again. A name is never used again.
 *
 * @param restMs - That time. It is two minutes at most where more was replaced than the workspace may hold.
 * @returns how many were removed.
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
      // Somebody is at work: another time.
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
/** After a run its session's log is put at the latest: what a lost machine loses of logs, as it would without others. */
const LOGS_FOLLOW_MS = 1_000;
const PUT_TRIES = 3;
const PUT_PAUSE_MS = 300;
/** At the end so long is waited for storage that does not answer. */
const CLOSE_WAIT_MS = 3_000;
const DEFAULT_GARBAGE_REST_MS = 86_400_000;
const GARBAGE_CHECK_MS = 60_000;

/** Settings of {@link createWorkspaceSync}. */
export interface WorkspaceSyncSettings {
  /** The part of a store that belongs to the workspace. */
  store: Store;
  /** Where the pieces of its files are. */
  blobs: BlobStore;
  /** Its folders on this machine, by the names that they have in the shared copy. */
  roots: readonly Root[];
  /** Where this machine notes what it has, out of the reach of code in the sandbox. */
  recordFile: string;
  /** Maximum number and total size of the files. */
  limits: Limits;
  /** Whether the folders still belong to the workspace. They are not touched where not. */
  isThere?: (() => Promise<boolean>) | undefined;
  /** Is told when files came from elsewhere. */
  onFetched?: (() => Promise<void>) | undefined;
  /** Is told what went wrong beside the runs. */
  onProblem?: ((error: unknown) => void) | undefined;
  /**
   * After so many milliseconds pieces that no file has are removed, or after two minutes where there are more than the limits say.
   *
   * @defaultValue a day
   */
  garbageRestMs?: number | undefined;
}

/** Keeps a workspace on this machine in step with a copy that machines share. */
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
  const shared = new SharedCopy({ store, blobs, limits, roots: new Set(roots.map(({ name }) => name)) });
  const here = { local: new LocalFolders(roots, limits), record: new LocalRecord(recordFile) };
  const inTurn = createTurns();
  const closing = new AbortController();
  /** Whether there may be something here that was not put back: a process was killed, or the storage was gone. */
  let isBehind = true;
  /** Runs while a log waits to be put. */
  let following: NodeJS.Timeout | undefined;
  let checkedGarbageAt = -Infinity;
  let collecting: Promise<unknown> = Promise.resolve();

  async function fetch(signal?: AbortSignal): Promise<string[]> {
    if (!isBehind) {
      const [known, ...older] = await here.record.read();
      const { version } = await shared.readHead();
      if (known?.version === version && older.length === 0) return [];
    }
    return sync("fetch", signal);
  }

  async function put(logsFollow: boolean): Promise<string[]> {
    if (!isBehind && (await isThere?.()) !== false) {
      const changed = await changedHere(here);
      if (changed === "nothing" || (logsFollow && changed === "logs of sessions")) return [];
    }
    isBehind = true;
    return sync("put");
  }

  /** Says so where what a run wrote could not be put back. It is kept here. An ended run waits for one try only. */
  async function putPatiently(logsFollow: boolean, signal?: AbortSignal): Promise<string[]> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await put(logsFollow);
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

  /** One at a time, also between the processes of this machine. */
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
    const attempt = createSync({ shared: shared.until(signal ?? closing.signal), ...here }, kind);
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

  /** In the background, and seldom. */
  function tidy(): void {
    const now = performance.now();
    if (now - checkedGarbageAt < Math.min(GARBAGE_CHECK_MS, garbageRestMs)) return;
    checkedGarbageAt = now;
    collecting = collectGarbage(store, shared.until(closing.signal), garbageRestMs).catch((error: unknown) =>
      onProblem?.(error),
    );
  }

  return {
    specificationVersion: "v1",
    fetch,
    put: () => put(false),
    async during(work, { logsFollow = false, signal } = {}) {
      // Also the wait for the turn of others ends with the signal.
      const remarks = await abandonOnAbort(fetch(signal), signal);
      try {
        const result = await work();
        return { result, remarks: [...remarks, ...(await putPatiently(logsFollow, signal))] };
      } catch (error) {
        await putPatiently(logsFollow, signal);
        throw error;
      } finally {
        // A log is written after the answer of its run.
        if (logsFollow)
          following ??= setTimeout(() => {
            following = undefined;
            void putPatiently(false);
          }, LOGS_FOLLOW_MS);
      }
    },
    async close() {
      clearTimeout(following);
      const late = setTimeout(() => {
        closing.abort(filesUnavailable(blobs.location, "it did not answer until the end"));
      }, CLOSE_WAIT_MS);
      // The log of the last run may not have been put yet.
      await put(false).catch(() => {});
      await inTurn(() => {});
      await collecting;
      clearTimeout(late);
    },
  };
}

/**
 * Deletes a workspace from what machines share.
 *
 * @returns whether it was there.
 */
export async function deleteSharedWorkspace({
  store,
  blobs,
}: Pick<WorkspaceSyncSettings, "store" | "blobs">): Promise<boolean> {
  return new SharedCopy({ store, blobs, roots: new Set(), limits: { maxFiles: 0, maxBytes: 0 } }).remove();
}
