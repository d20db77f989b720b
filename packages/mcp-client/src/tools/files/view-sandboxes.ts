import { existsSync } from "node:fs";
import type { Mount, Sandbox, SandboxStats } from "@cem/core";
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
 * folders that are there when it is opened; once the first server or skill makes a folder, later runs get another. The one
 * of the runs that have no list of tools of their own is opened now.
 */
export async function openViewSandboxes({
  open,
  tools,
  serversDir,
  skillsDir,
  viewsDir,
  viewOf,
}: ViewSandboxesSettings): Promise<Sandbox> {
  /** By the key of the view; the one that was used least recently comes first. */
  const opened = new Map<string, Opened>();
  /** Folders that have been there. Where one is gone with its owner, the sandbox that there is refuses the run. */
  const seen = new Set<string>();
  /** Disposals under way. */
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

  const stats = (): SandboxStats => {
    const all = current().map((sandbox) => sandbox.stats?.());
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
  };

  const dispose = async (): Promise<void> => {
    for (const [key, one] of opened) close(key, one);
    const sandboxOfTools = await tools.settled();
    await Promise.all([...closing, sandboxOfTools?.dispose()]);
  };

  try {
    const first = await take(await viewOf(undefined)).sandbox.get();
    return {
      isolation: first.isolation,
      loadsAhead: first.loadsAhead,
      ...(first.stats !== undefined && { stats }),
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
