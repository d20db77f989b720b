import { BYTES_PER_MB, GUEST_WORKSPACE, type SandboxSpec } from "@cem/core";
import { countFolder, type FolderUsage } from "./folder-census.ts";

/** The shortest time between two counts while code runs. */
const PERIOD_MS = 50;
/** Counting takes at most this fraction of the time, as its reciprocal; measuring each file, a tenth of that. */
const REST_PER_COUNT = 10;
const REST_PER_SIZES = 100;
/** How long the first run waits for the first count. */
const FIRST_COUNT_MS = 50;
/** Up to this multiple of the quota, code may still run, so that it can delete the excess. */
const REFUSED_ABOVE = 1.1;

/** A run that is ended when it takes the workspace above its quota. */
interface Watcher {
  /** Usage of the workspace when the run began. */
  before: FolderUsage | undefined;
  onExceeded: (message: string) => void;
}

/** Why a run is refused: the code and message of its outcome. */
export interface RunRefusal {
  code: string;
  message: string;
}

/** Ends runs that take a workspace above its quota, and refuses runs far above it. */
export type WorkspaceQuota = NonNullable<ReturnType<typeof createWorkspaceQuota>>;

/**
 * Creates the quota of a sandbox's workspace. It counts on a timer while code runs and once afterwards, so that
 * counting never delays a run. A run that begins above the quota may delete but not add; far above, runs are refused.
 *
 * @returns `undefined` when the spec sets none.
 */
export function createWorkspaceQuota({ workspaceDir, quota }: SandboxSpec) {
  if (quota === undefined) return undefined;
  const maxEntries = quota.workspaceEntries;
  const maxBytes = quota.workspaceMb * BYTES_PER_MB;
  const watchers = new Set<Watcher>();
  let latest: FolderUsage | undefined;
  let counting: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  /** Whether code has run since the last count began. */
  let isStale = false;
  /** Bytes written since sizes were last measured, as far as known. */
  let writtenBytes = 0;
  /** Time until the next count. */
  let restMs = PERIOD_MS;
  let sizesDueAt = 0;
  let countedAt = 0;
  let isDisposed = false;

  async function checkFirst(): Promise<RunRefusal | undefined> {
    let waiting: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (waiting = setTimeout(resolve, FIRST_COUNT_MS)));
    await Promise.race([count(), late]);
    clearTimeout(waiting);
    return refusal();
  }

  function schedule(delayMs: number): void {
    if (timer !== undefined || counting !== undefined || isDisposed) return;
    timer = setTimeout(() => {
      timer = undefined;
      void count();
    }, delayMs).unref();
  }

  function count(): Promise<void> {
    counting ??= countOnce().finally(() => {
      counting = undefined;
      if (isStale || watchers.size > 0) schedule(restMs);
    });
    return counting;
  }

  async function countOnce(): Promise<void> {
    isStale = false;
    const startedAt = performance.now();
    const written = writtenBytes;
    const sizes = startedAt >= sizesDueAt || (latest?.bytes ?? 0) + written > maxBytes;
    const usage = await countFolder(workspaceDir, {
      sizes,
      maxEntries: maxEntries * REFUSED_ABOVE,
      isStopped: () => isDisposed,
    });
    const tookMs = performance.now() - startedAt;
    if (!sizes) usage.bytes = latest?.bytes ?? 0;
    else {
      writtenBytes -= written;
      sizesDueAt = performance.now() + tookMs * REST_PER_SIZES;
    }
    restMs = Math.max(PERIOD_MS, Math.min(tookMs * REST_PER_COUNT, msUntilFull(usage) / 2));
    latest = usage;
    countedAt = startedAt;
    for (const watcher of watchers) {
      const problem = problemOf(usage, watcher.before);
      if (problem !== undefined) watcher.onExceeded(problem);
      else watcher.before ??= usage;
    }
  }

  /** Time until the workspace would be full at the rate at which entries were added since the last count. */
  function msUntilFull({ entries }: FolderUsage): number {
    const added = entries - (latest?.entries ?? entries);
    if (added <= 0) return Infinity;
    return ((maxEntries - entries) / added) * (performance.now() - countedAt);
  }

  function refusal(): RunRefusal | undefined {
    if (latest === undefined) return undefined;
    const { entries, bytes } = latest;
    if (entries <= maxEntries * REFUSED_ABOVE && bytes <= maxBytes * REFUSED_ABOVE) return undefined;
    return { code: "WORKSPACE_FULL", message: `${fullness(latest, undefined)} Nothing was run.` };
  }

  function problemOf(usage: FolderUsage, before: FolderUsage | undefined): string | undefined {
    const { moved } = usage;
    if (moved === undefined) return fullness(usage, before);
    return `The path of a folder in the workspace was too long, so it is now ${GUEST_WORKSPACE}${moved.slice(workspaceDir.length)}.`;
  }

  /** Why the workspace exceeds both its quota and its usage before the run; else `undefined`. */
  function fullness({ entries, bytes }: FolderUsage, before: FolderUsage | undefined): string | undefined {
    if (entries > Math.max(maxEntries, before?.entries ?? 0)) {
      // Counting stopped early.
      const about = entries > maxEntries * REFUSED_ABOVE ? "at least " : "";
      return `The workspace holds ${about}${entries} files and folders; its quota is ${maxEntries}.`;
    }
    if (bytes > Math.max(maxBytes, before?.bytes ?? 0)) {
      const held = Math.ceil(bytes / BYTES_PER_MB);
      return `The workspace holds ${held} MiB; its quota is ${maxBytes / BYTES_PER_MB} MiB.`;
    }
    return undefined;
  }

  return {
    /**
     * The reason why no run may begin. Only the first run waits, briefly; and a run that would be refused waits for a
     * fresh count.
     */
    check: () => (latest === undefined ? checkFirst() : refusal() && count().then(refusal)),
    /** Watches one run until the returned function is called. */
    watch(onExceeded: (message: string) => void) {
      const watcher = { before: latest, onExceeded };
      watchers.add(watcher);
      isStale = true;
      schedule(PERIOD_MS);
      return () => {
        isStale = true;
        watchers.delete(watcher);
      };
    },
    /** Records what a run has written, so that sizes are measured in time. */
    noteWritten: (bytes: number) => void (writtenBytes += bytes),
    dispose() {
      isDisposed = true;
      clearTimeout(timer);
    },
  };
}
