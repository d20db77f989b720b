import path from "node:path";
import { CemError, toErrorInfo } from "@cem/core";
import type { ErrorInfo, ToolFlag } from "@cem/core";
import type { ToolList } from "@cem/mcp-client";
import type { ChangedTool, Difference, SkippedTool, ToolWarning } from "@cem/tool-files";
import type { Upstream } from "./create-upstream.ts";
import { definitionsOf } from "./tool-changes.ts";

export interface GenerateOptions {
  /** Which servers. Default: every one that is not switched off. */
  servers?: readonly string[] | undefined;
  /** Take changed definitions over too. Default: they are shown, and their tools stay as they were accepted. */
  accept?: boolean | undefined;
  /** Allow looking at results, and write what they were seen to be into the types. */
  learn?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

/** What became of one server's files. */
export interface GeneratedServer {
  server: string;
  /** `held`: tools that changed wait for a yes. `failed`: nothing was written. */
  state: "generated" | "held" | "failed";
  error?: ErrorInfo | undefined;
  /** The server's folder, absolute. */
  directory: string;
  /** Tools that have a file now. */
  tools: number;
  written: string[];
  removed: string[];
  unchanged: number;
  /** Tools that get no file, and why. */
  skipped: SkippedTool[];
  /** Files that people wrote where a generated one belongs. */
  conflicts: string[];
  warnings: ToolWarning[];
  /** Tools whose definition is not the one that was accepted; with `accept` they were taken over. */
  changed: { tool: string; differences: Difference[] }[];
  /** Tools whose definitions seem to give orders to a model. */
  flagged: { tool: string; flags: readonly ToolFlag[] }[];
  /** Tools whose return type was learned from results. Absent where results are not looked at. */
  learned?: string[] | undefined;
}

/**
 * Writes the files of servers' tools, all servers at once. A server that fails costs no other.
 *
 * @throws CemError `SERVER_NOT_FOUND` for a name that is not configured.
 */
export async function generateServers(
  upstream: Upstream,
  options: GenerateOptions = {},
): Promise<GeneratedServer[]> {
  const enabled = [...upstream.servers].filter(([, server]) => server.enabled).map(([name]) => name);
  const names = options.servers ?? enabled;
  const live = await upstream.connections();
  // Says what is perhaps meant, before anything is started.
  for (const name of names) live.knownTools(name);
  return Promise.all(
    names.map(async (server) => {
      try {
        return await generateServer(upstream, server, options);
      } catch (error) {
        options.signal?.throwIfAborted();
        return failed(server, await upstream.folderOf(server), toErrorInfo(error));
      }
    }),
  );
}

async function generateServer(
  upstream: Upstream,
  server: string,
  { accept = false, learn = false, signal }: GenerateOptions,
): Promise<GeneratedServer> {
  const files = await import("@cem/tool-files");
  const directory = await upstream.folderOf(server);
  const { error } = upstream.servers.get(server) ?? {};
  if (error !== undefined) throw error;
  const before = await upstream.folders.read(directory);
  if (before === undefined) await assertFree(server, directory);
  const live = await upstream.connections();
  const list = await live.listTools(server, { refresh: true, ...(signal === undefined ? {} : { signal }) });
  const changed = before === undefined ? [] : files.compareWithLock(definitionsOf(list), before.lock).changed;
  const holds = upstream.holdsChanges && !accept && changed.length > 0;
  const observed = await files.readObserved(directory);
  const result = await files.writeServerFiles({
    serversDir: path.dirname(directory),
    folder: path.basename(directory),
    server,
    serverInfo: list.server,
    definitions: holds ? withAccepted(list, changed) : definitionsOf(list),
    ...(learn && observed !== undefined ? { learned: observed } : {}),
    signal,
  });
  if (learn) await files.allowObserving(result.directory);
  return {
    server,
    state: holds ? "held" : "generated",
    directory: result.directory,
    tools: result.lock.tools.length,
    written: result.written,
    removed: result.removed,
    unchanged: result.unchanged,
    skipped: [...list.leftOut, ...result.skipped],
    conflicts: result.conflicts,
    warnings: result.warnings,
    changed: changed.map(({ name, differences }) => ({ tool: name, differences })),
    flagged: result.lock.tools.flatMap(({ definition, flags }) =>
      flags === undefined ? [] : [{ tool: definition.name, flags }],
    ),
    ...(learn || observed !== undefined
      ? { learned: result.lock.tools.filter((tool) => tool.learned).map((tool) => tool.definition.name) }
      : {}),
  };
}

/** What the server lists, with the accepted definitions in place of those that changed. */
function withAccepted(list: ToolList, changed: readonly ChangedTool[]): unknown[] {
  const accepted = new Map(changed.map(({ name, locked }) => [name, locked.definition]));
  return list.tools.map(({ name, definition }) => accepted.get(name) ?? definition);
}

/** A folder that people made is theirs, whole. */
async function assertFree(server: string, directory: string): Promise<void> {
  const { listForeignModules } = await import("@cem/tool-files");
  const [foreign] = await listForeignModules(directory);
  if (foreign === undefined) return;
  throw new CemError(
    "SERVER_FOLDER_TAKEN",
    `${directory} holds ${foreign}, which was not generated, so the tools of server "${server}" can't go there. Give the server another name.`,
    { details: { server, directory } },
  );
}

function failed(server: string, directory: string, error: ErrorInfo): GeneratedServer {
  const nothing = {
    written: [],
    removed: [],
    skipped: [],
    conflicts: [],
    warnings: [],
    changed: [],
    flagged: [],
  };
  return { server, state: "failed", error, directory, tools: 0, unchanged: 0, ...nothing };
}
