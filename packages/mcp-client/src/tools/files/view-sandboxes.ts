import { existsSync } from "node:fs";
import { Lazy, type Mount, type Sandbox, type SandboxStats } from "@cem/core";
import { removeProcessFolder } from "@cem/core/files";
import { mountsOf, writeView, type ProgramView } from "./program-view.ts";

/** Maximum number of idle views whose guests are kept. */
const MAX_IDLE_VIEWS = 3;

/** How a sandbox differs from the one with the complete servers folder. */
export interface SandboxVariant {
  /** The mounts that replace the servers folder. */
  servers?: readonly Mount[] | undefined;
  /** The entries of the servers folder that the sandbox must not reach. */
  hosted?: ReadonlySet<string> | undefined;
  /** Whether its runs are nested in runs of another sandbox. */
  nested?: boolean | undefined;
}

export type OpenSandbox = (variant: SandboxVariant) => Promise<Sandbox>;

export interface ViewSandboxesSettings {
  open: OpenSandbox;
  /** The sandbox for tools, opened when one is called. */
  tools: Lazy<Sandbox>;
  /** The folder of servers. Absolute. */
  serversDir: string;
  /** The folder of skills. Absolute. */
  skillsDir: string;
  /** The parent of temporary folders that sandboxes mount. Absolute. */
  viewsDir: string;
  /** The view of a run. `undefined`: the complete servers folder. */
  viewOf: (allowedTools: readonly string[] | undefined) => Promise<ProgramView | undefined>;
}

/** A sandbox of one view, and the number of its running runs. */
interface Opened {
  sandbox: Lazy<Sandbox>;
  folder: string | undefined;
  runs: number;
  /** The mounted folders that existed when it was opened. */
  mounted: string;
}

/**
 * Opens one sandbox per view of the servers folder on demand, and one for tools. A sandbox mounts the folders that exist
 * when it is opened, so runs get a new one after the first server or skill creates a folder. The sandbox of runs without
 * their own list of tools is opened immediately.
 */
export async function openViewSandboxes(settings: ViewSandboxesSettings): Promise<Sandbox> {
  const { open, tools, serversDir, skillsDir, viewsDir, viewOf } = settings;
  /** Sandboxes by the key of the view, least recently used first. */
  const opened = new Map<string, Opened>();
  /** Folders that existed before. If one was removed with its owner, the existing sandbox refuses the run. */
  const seen = new Set<string>();
  /** Pending disposals. */
  const closing = new Set<Promise<void>>();

  const mountedNow = (): string => {
    for (const folder of [serversDir, skillsDir])
      if (!seen.has(folder) && existsSync(folder)) seen.add(folder);
    return JSON.stringify([...seen]);
  };

  const plan = (view: ProgramView | undefined, mounted: string): Opened => {
    const state = { folder: undefined, runs: 0, mounted };
    if (view === undefined) return { ...state, sandbox: new Lazy(() => open({})) };
    const planned: Opened = {
      ...state,
      sandbox: new Lazy(async () => {
        planned.folder ??= await writeView(view, viewsDir);
        return open({ servers: mountsOf(view, planned.folder, serversDir), hosted: view.hosted });
      }),
    };
    return planned;
  };

  const take = (view: ProgramView | undefined): Opened => {
    const mounted = mountedNow();
    const key = `${mounted} ${view?.key ?? ""}`;
    const taken = opened.get(key) ?? plan(view, mounted);
    opened.delete(key);
    opened.set(key, taken);
    return taken;
  };

  const close = (key: string, { sandbox, folder }: Opened): void => {
    opened.delete(key);
    const closed = (async () => {
      await (await sandbox.settled())?.dispose();
      if (folder !== undefined) removeProcessFolder(folder);
    })().finally(() => closing.delete(closed));
    closing.add(closed);
  };

  const closeIdle = (): void => {
    const idle = [...opened].filter(([, { runs }]) => runs === 0);
    const mounted = mountedNow();
    for (const [at, [key, one]] of idle.entries())
      if (at < idle.length - MAX_IDLE_VIEWS || one.mounted !== mounted) close(key, one);
  };

  const current = (): Sandbox[] =>
    [tools, ...[...opened.values()].map(({ sandbox }) => sandbox)].flatMap((one) => one.current ?? []);

  const sumsOf = (names: readonly string[]): SandboxStats => {
    const all = current().map((sandbox) => sandbox.stats?.());
    const sum = (name: string): number =>
      all.reduce((total, one) => total + (one?.[name as keyof SandboxStats] ?? 0), 0);
    return Object.fromEntries(names.map((name) => [name, sum(name)])) as unknown as SandboxStats;
  };

  const dispose = async (): Promise<void> => {
    for (const [key, one] of opened) close(key, one);
    const sandboxOfTools = await tools.settled();
    await Promise.all([...closing, sandboxOfTools?.dispose()]);
  };

  try {
    const first = await take(await viewOf(undefined)).sandbox.get();
    const counts = first.stats && Object.keys(first.stats());
    return {
      isolation: first.isolation,
      loadsAhead: first.loadsAhead,
      ...(counts && { stats: () => sumsOf(counts) }),
      async run(request) {
        const used = take(await viewOf(request.allowedTools));
        used.runs += 1;
        try {
          return await (await used.sandbox.get()).run(request);
        } finally {
          used.runs -= 1;
          closeIdle();
        }
      },
      endSession(session) {
        for (const sandbox of current()) sandbox.endSession?.(session);
      },
      dispose,
    };
  } catch (error) {
    await dispose();
    throw error;
  }
}
