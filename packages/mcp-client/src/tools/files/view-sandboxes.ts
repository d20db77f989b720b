import { existsSync } from "node:fs";
import type { Isolation, Mount, RunOutcome, RunRequest, Sandbox, SandboxStats } from "@cem/core";
import { Lazy } from "@cem/core";
import { removeProcessFolder } from "@cem/core/files";
import { mountsOf, writeView } from "./program-view.ts";
import type { ProgramView } from "./program-view.ts";

/** Views whose guests are kept when no run uses them. */
const MAX_IDLE_VIEWS = 3;

/** How a sandbox differs from the one that has the folder of servers as it is. */
export interface SandboxVariant {
  /** The mounts in place of the folder of servers. */
  servers?: readonly Mount[] | undefined;
  /** The entries of the folder of servers that the sandbox must not reach. */
  hosted?: ReadonlySet<string> | undefined;
  /** Whether its runs are parts of runs of another one. */
  nested?: boolean | undefined;
}

/** Opens a sandbox. */
export type OpenSandbox = (variant: SandboxVariant) => Promise<Sandbox>;

export interface ViewSandboxesSettings {
  open: OpenSandbox;
  /** The sandbox of tools, opened when one is called. */
  tools: Lazy<Sandbox>;
  serversDir: string;
  skillsDir: string;
  /** The folder in which folders of views are made. */
  viewsDir: string;
  /** The view of a run. `undefined`: the folder of servers as it is. */
  viewOf: (allowedTools: readonly string[] | undefined) => Promise<ProgramView | undefined>;
}

/** A sandbox of one view, and the runs that it has under way. */
interface Opened {
  sandbox: Lazy<Sandbox>;
  folder: string | undefined;
  runs: number;
  /** Which of the folders had been there that it mounts. */
  mounted: string;
}

/**
 * One sandbox for each view of the folder of servers, opened when a run needs it, and the one of tools. A sandbox mounts the
 * folders that are there when it is opened; once the first server or skill makes a folder, later runs get another.
 */
export class ViewSandboxes implements Sandbox {
  loadsAhead?: boolean | undefined;
  stats?: () => SandboxStats;
  readonly #settings: ViewSandboxesSettings;
  /** By the key of the view; the one that was used least recently comes first. */
  readonly #opened = new Map<string, Opened>();
  /** Folders that have been there. Where one is gone with its owner, the sandbox that there is refuses the run. */
  readonly #seen = new Set<string>();
  /** Disposals under way. */
  readonly #closing = new Set<Promise<void>>();
  /** The same for all of them. */
  #isolation: Isolation = { level: "permissions", sandbox: "", mechanisms: [] };

  private constructor(settings: ViewSandboxesSettings) {
    this.#settings = settings;
  }

  /** Opens the sandbox of the runs that have no list of tools of their own. */
  static async open(settings: ViewSandboxesSettings): Promise<ViewSandboxes> {
    const sandboxes = new ViewSandboxes(settings);
    const { sandbox } = sandboxes.#take(await settings.viewOf(undefined));
    try {
      const first = await sandbox.get();
      sandboxes.#isolation = first.isolation;
      sandboxes.loadsAhead = first.loadsAhead;
      if (first.stats !== undefined) sandboxes.stats = () => sandboxes.#stats();
      return sandboxes;
    } catch (error) {
      await sandboxes.dispose();
      throw error;
    }
  }

  get isolation(): Isolation {
    return this.#isolation;
  }

  async run(request: RunRequest): Promise<RunOutcome> {
    const opened = this.#take(await this.#settings.viewOf(request.allowedTools));
    opened.runs += 1;
    try {
      return await (await opened.sandbox.get()).run(request);
    } finally {
      opened.runs -= 1;
      this.#closeIdle();
    }
  }

  #stats(): SandboxStats {
    const all = this.#current.map((sandbox) => sandbox.stats?.());
    const sum = (key: keyof SandboxStats): number => all.reduce((total, one) => total + (one?.[key] ?? 0), 0);
    return {
      running: sum("running"),
      waiting: sum("waiting"),
      standby: sum("standby"),
      kept: sum("kept"),
      taken: sum("taken"),
      started: sum("started"),
      hits: sum("hits"),
      reused: sum("reused"),
      misses: sum("misses"),
      lost: sum("lost"),
      discarded: sum("discarded"),
    };
  }

  endSession(session: string): void {
    for (const sandbox of this.#current) sandbox.endSession?.(session);
  }

  get #current(): Sandbox[] {
    const all = [this.#settings.tools, ...[...this.#opened.values()].map(({ sandbox }) => sandbox)];
    return all.flatMap(({ current }) => current ?? []);
  }

  async dispose(): Promise<void> {
    for (const [key, opened] of this.#opened) this.#close(key, opened);
    const tools = await this.#settings.tools.settled();
    await Promise.all([...this.#closing, tools?.dispose()]);
  }

  #take(view: ProgramView | undefined): Opened {
    const mounted = this.#mounted();
    const key = `${mounted} ${view?.key ?? ""}`;
    const opened = this.#opened.get(key) ?? this.#plan(view, mounted);
    this.#opened.delete(key);
    this.#opened.set(key, opened);
    return opened;
  }

  #mounted(): string {
    const { serversDir, skillsDir } = this.#settings;
    for (const folder of [serversDir, skillsDir])
      if (!this.#seen.has(folder) && existsSync(folder)) this.#seen.add(folder);
    return JSON.stringify([...this.#seen]);
  }

  #plan(view: ProgramView | undefined, mounted: string): Opened {
    const { open, serversDir, viewsDir } = this.#settings;
    const state = { folder: undefined, runs: 0, mounted };
    if (view === undefined) return { ...state, sandbox: new Lazy(() => open({})) };
    const opened: Opened = {
      ...state,
      sandbox: new Lazy(async () => {
        opened.folder ??= await writeView(view, viewsDir);
        return open({ servers: mountsOf(view, opened.folder, serversDir), hosted: view.hosted });
      }),
    };
    return opened;
  }

  #closeIdle(): void {
    const idle = [...this.#opened].filter(([, { runs }]) => runs === 0);
    const mounted = this.#mounted();
    for (const [at, [key, opened]] of idle.entries())
      if (at < idle.length - MAX_IDLE_VIEWS || opened.mounted !== mounted) this.#close(key, opened);
  }

  #close(key: string, { sandbox, folder }: Opened): void {
    this.#opened.delete(key);
    const closing = (async () => {
      await (await sandbox.settled())?.dispose();
      if (folder !== undefined) removeProcessFolder(folder);
    })().finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }
}
