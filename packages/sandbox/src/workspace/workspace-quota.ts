import type { SandboxSpec } from "@cem/core";
import { countFolder, type FolderUsage } from "./folder-census.ts";
import type { RunRefusal } from "../runs/run-report.ts";
import { GUEST_WORKSPACE } from "../guests/guest-spec.ts";

type WorkspaceLimits = NonNullable<SandboxSpec["quota"]>;

const BYTES_PER_MIB = 1024 * 1024;
/** The shortest time between two counts while code runs. */
const PERIOD_MS = 50;
/** Counting takes at most one part in so many of the time; looking at each file's size, of ten times that. */
const REST_PER_COUNT = 10;
const REST_PER_SIZES = 100;
/** How long the first run waits for the first count. */
const FIRST_COUNT_MS = 50;
/** Up to this share of the quota, code may still run, so that it can delete what is too much. */
const REFUSED_ABOVE = 1.1;
const MAX_SHOWN_CHARACTERS = 200;

/** A run that is ended when it takes the workspace above its quota. */
interface Watcher {
  /** Usage of the workspace when the run began. */
  before: FolderUsage | undefined;
  onExceeded: (message: string) => void;
}

/** Creates the quota of a sandbox's workspace; `undefined` where its spec sets none. */
export function createWorkspaceQuota({ workspaceDir, quota }: SandboxSpec): WorkspaceQuota | undefined {
  return quota === undefined ? undefined : new WorkspaceQuota(workspaceDir, quota);
}

/**
 * Holds a workspace to its quota. It counts on a timer while code runs and once after, never on the way of a run. A run
 * that begins above the quota may delete, but add nothing; far above, none begins.
 */
export class WorkspaceQuota {
  readonly #workspaceDir: string;
  readonly #maxEntries: number;
  readonly #maxBytes: number;
  readonly #watchers = new Set<Watcher>();
  #usage: FolderUsage | undefined;
  #counting: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Whether code has run since the last count began. */
  #isStale = false;
  /** Written since sizes were last looked at, as far as it is known. */
  #writtenBytes = 0;
  /** Until the next count. */
  #restMs = PERIOD_MS;
  #sizesDueAt = 0;
  #countedAt = 0;
  #isDisposed = false;

  constructor(workspaceDir: string, { workspaceMb, workspaceEntries }: WorkspaceLimits) {
    this.#workspaceDir = workspaceDir;
    this.#maxEntries = workspaceEntries;
    this.#maxBytes = workspaceMb * BYTES_PER_MIB;
  }

  /** Why no run may begin. Only the first run waits, and not for long; and one that would be refused, for a fresh count. */
  check(): RunRefusal | undefined | Promise<RunRefusal | undefined> {
    if (this.#usage === undefined) return this.#checkFirst();
    return this.#refusal() && this.#count().then(() => this.#refusal());
  }

  async #checkFirst(): Promise<RunRefusal | undefined> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, FIRST_COUNT_MS)));
    await Promise.race([this.#count(), late]);
    clearTimeout(timer);
    return this.#refusal();
  }

  /**
   * Watches over one run.
   *
   * @param onExceeded - Called when the run has taken the workspace above its quota.
   * @returns a function that ends the watch.
   */
  watch(onExceeded: (message: string) => void): () => void {
    const watcher = { before: this.#usage, onExceeded };
    this.#watchers.add(watcher);
    this.#isStale = true;
    this.#schedule(PERIOD_MS);
    return () => {
      this.#isStale = true;
      this.#watchers.delete(watcher);
    };
  }

  /** Notes what a run has written, so that sizes are looked at in time. */
  noteWritten(bytes: number): void {
    this.#writtenBytes += bytes;
  }

  dispose(): void {
    this.#isDisposed = true;
    clearTimeout(this.#timer);
  }

  #schedule(delayMs: number): void {
    if (this.#timer !== undefined || this.#counting !== undefined || this.#isDisposed) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#count();
    }, delayMs).unref();
  }

  #count(): Promise<void> {
    this.#counting ??= this.#countOnce().finally(() => {
      this.#counting = undefined;
      if (this.#isStale || this.#watchers.size > 0) this.#schedule(this.#restMs);
    });
    return this.#counting;
  }

  async #countOnce(): Promise<void> {
    this.#isStale = false;
    const startedAt = performance.now();
    const written = this.#writtenBytes;
    const sizes = startedAt >= this.#sizesDueAt || (this.#usage?.bytes ?? 0) + written > this.#maxBytes;
    const usage = await countFolder(this.#workspaceDir, {
      sizes,
      maxEntries: this.#maxEntries * REFUSED_ABOVE,
      isStopped: () => this.#isDisposed,
    });
    const tookMs = performance.now() - startedAt;
    if (!sizes) usage.bytes = this.#usage?.bytes ?? 0;
    else {
      this.#writtenBytes -= written;
      this.#sizesDueAt = performance.now() + tookMs * REST_PER_SIZES;
    }
    this.#restMs = Math.max(PERIOD_MS, Math.min(tookMs * REST_PER_COUNT, this.#msUntilFull(usage) / 2));
    this.#usage = usage;
    this.#countedAt = startedAt;
    for (const watcher of this.#watchers) {
      const problem = this.#problem(watcher.before);
      if (problem !== undefined) watcher.onExceeded(problem);
      else watcher.before ??= usage;
    }
  }

  /** Time in which the workspace would be full if as many entries were added as since the last count. */
  #msUntilFull({ entries }: FolderUsage): number {
    const added = entries - (this.#usage?.entries ?? entries);
    if (added <= 0) return Infinity;
    return ((this.#maxEntries - entries) / added) * (performance.now() - this.#countedAt);
  }

  #refusal(): RunRefusal | undefined {
    const usage = this.#usage;
    if (usage === undefined) return undefined;
    const isFarAbove =
      usage.entries > this.#maxEntries * REFUSED_ABOVE || usage.bytes > this.#maxBytes * REFUSED_ABOVE;
    if (!isFarAbove && usage.unlisted === undefined) return undefined;
    return { code: "WORKSPACE_FULL", message: `${this.#problem(undefined)} Nothing was run.` };
  }

  /** Why the workspace exceeds both its quota and its usage before the run, or can't be counted; else `undefined`. */
  #problem(before: FolderUsage | undefined): string | undefined {
    const { entries, bytes, unlisted } = this.#usage as FolderUsage;
    if (unlisted !== undefined) {
      const path = GUEST_WORKSPACE + unlisted.slice(this.#workspaceDir.length);
      return `A folder of the workspace can't be listed, so what it holds can't be counted: ${path.slice(0, MAX_SHOWN_CHARACTERS)}.`;
    }
    if (entries > Math.max(this.#maxEntries, before?.entries ?? 0)) {
      // Counting ended early.
      const about = entries > this.#maxEntries * REFUSED_ABOVE ? "at least " : "";
      return `The workspace holds ${about}${entries} files and folders; its quota is ${this.#maxEntries}.`;
    }
    if (bytes > Math.max(this.#maxBytes, before?.bytes ?? 0)) {
      const held = Math.ceil(bytes / BYTES_PER_MIB);
      return `The workspace holds ${held} MiB; its quota is ${this.#maxBytes / BYTES_PER_MIB} MiB.`;
    }
    return undefined;
  }
}
