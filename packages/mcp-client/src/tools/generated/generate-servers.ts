import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { abandonOnAbort, CemError, toErrorInfo } from "@cem/core";
import type { ErrorInfo, ToolCatalog, ToolFlag } from "@cem/core";
import type { ChangedTool, Difference, SkippedTool, ToolWarning } from "@cem/tool-files";
import { definitionsOf, type GeneratedParts } from "./generated-folders.ts";

export interface GenerateOptions {
  /** The servers to generate files for. Default: all enabled servers. */
  servers?: readonly string[] | undefined;
  /**
   * Whether to accept changed definitions. Otherwise they are reported, and the tools stay as previously accepted.
   *
   * @defaultValue false
   */
  accept?: boolean | undefined;
  /** Called with each server that is done, whatever came of it. */
  onDone?: ((server: string) => void) | undefined;
  signal?: AbortSignal | undefined;
}

/** The outcome of generating one server's files. */
export interface GeneratedServer {
  server: string;
  /** `held`: changed tools wait to be accepted. `failed`: nothing was written. */
  state: "generated" | "held" | "error";
  error?: ErrorInfo | undefined;
  /** The server's folder, absolute. */
  directory: string;
  /** How many tools have a file now. */
  tools: number;
  written: string[];
  removed: string[];
  unchanged: number;
  /** Tools without a file, with the reason. */
  skipped: SkippedTool[];
  /** Files in the place of generated ones that were not generated. */
  conflicts: string[];
  warnings: ToolWarning[];
  /** Tools whose definition differs from the accepted one. With `accept`, the new definitions were accepted. */
  changed: { tool: string; differences: Difference[] }[];
  /** Tools whose definitions seem to contain instructions for a model. */
  flagged: { tool: string; flags: readonly ToolFlag[] }[];
}

/** How long a list waits for missing files, in milliseconds: a server's first start may download it. */
const MAX_WAIT_MS = 20_000;
/** Initial delay before retrying servers that returned no tools, in milliseconds. It doubles each time. */
const FIRST_RETRY_MS = 30_000;

/**
 * A catalog that, when listed, generates the tools of configured servers without files. Tools of slow servers appear in a
 * later list.
 *
 * @param generate - Generates the files of one server. Never rejects.
 */
export function generatingMissing(
  catalog: ToolCatalog,
  { servers, folders }: GeneratedParts,
  generate: (server: string) => Promise<void>,
): ToolCatalog {
  /** The servers in progress in the latest attempt, by folder. */
  let missing = new Map<string, { server: string; generated: Promise<void> }>();
  let begun: Promise<void> | undefined;
  let first: Promise<unknown> | undefined;
  let nextAt = 0;
  let retryMs = FIRST_RETRY_MS;
  const begin = async (): Promise<void> => {
    const found: typeof missing = new Map();
    for (const [server, { enabled, error }] of servers.byName) {
      // An unreadable lock file is reported where it is used.
      const directory = await servers.folderOf(server);
      const read = await folders.read(directory).catch(() => "unreadable");
      if (!enabled || error !== undefined || read !== undefined) continue;
      found.set(path.basename(directory), { server, generated: generate(server) });
    }
    missing = found;
  };
  const generated = (wanted: Iterable<string>): Promise<unknown> =>
    Promise.all([...wanted].flatMap((folder) => missing.get(folder)?.generated ?? []));
  const attempt = async (): Promise<void> => {
    try {
      await (begun = begin());
      await generated(missing.keys());
    } finally {
      nextAt = performance.now() + retryMs;
      retryMs *= 2;
    }
  };
  return {
    specificationVersion: "v1",
    async list(options) {
      if (performance.now() >= nextAt) {
        nextAt = Infinity;
        const attempted = attempt();
        attempted.catch(() => (first = undefined));
        first ??= Promise.race([attempted, wait(MAX_WAIT_MS, undefined, { ref: false })]);
      }
      const all = first ?? Promise.resolve();
      const { servers: wanted, signal } = options ?? {};
      const needed = wanted && begun?.then(() => generated(wanted));
      await abandonOnAbort(needed === undefined ? all : Promise.race([all, needed]), signal);
      const snapshot = await catalog.list(options);
      const names = new Set(snapshot.servers.map(({ name }) => name));
      const absent = [...missing.values()].filter(({ server }) => !names.has(server));
      if (absent.length === 0) return snapshot;
      const problems = absent.map(async ({ server }) => ({
        server,
        file: await servers.folderOf(server),
        message: `The MCP server "${server}" has given no tools yet. Where cem runs, get them with  cem generate ${server}.`,
      }));
      return { ...snapshot, problems: [...snapshot.problems, ...(await Promise.all(problems))] };
    },
  };
}

/**
 * Writes the files of servers' tools, all servers concurrently. A failing server does not affect others.
 *
 * @throws CemError `SERVER_NOT_FOUND` for a name that is not configured.
 */
export async function generateServers(
  parts: GeneratedParts,
  options: GenerateOptions = {},
): Promise<GeneratedServer[]> {
  const { servers, inTurn } = parts;
  const enabled = [...servers.byName].filter(([, server]) => server.enabled).map(([name]) => name);
  const names = options.servers ?? enabled;
  const connections = await servers.connections();
  // Refuses an unknown name before any server is started.
  for (const name of names) connections.knownTools(name);
  return Promise.all(
    names.map(async (server) => {
      try {
        return await inTurn(server, () => generateServer(parts, server, options));
      } catch (error) {
        options.signal?.throwIfAborted();
        return failed(server, await servers.folderOf(server), toErrorInfo(error));
      } finally {
        options.onDone?.(server);
      }
    }),
  );
}

/** Writes the files of one server's tools. Must be called in the server's turn. */
export async function generateServer(
  { servers, folders, holdChanged }: GeneratedParts,
  server: string,
  { accept = false, signal }: GenerateOptions = {},
): Promise<GeneratedServer> {
  const files = await import("@cem/tool-files");
  const directory = await servers.folderOf(server);
  const connections = await servers.connectionsFor(server);
  const before = await folders.read(directory);
  if (before === undefined) await assertFree(server, directory);
  const list = await connections.listTools(server, { refresh: true, signal });
  const changed = before === undefined ? [] : (await folders.compare(list, before.lock)).changed;
  const isHeld = holdChanged && !accept && changed.length > 0;
  const result = await files.writeServerFiles({
    serversDir: path.dirname(directory),
    folder: path.basename(directory),
    server,
    serverInfo: list.server,
    definitions: withAccepted(definitionsOf(list), isHeld ? changed : []),
    signal,
  });
  const { lock, written, removed, unchanged, conflicts, warnings } = result;
  return {
    server,
    state: isHeld ? "held" : "generated",
    directory: result.directory,
    tools: lock.tools.length,
    written,
    removed,
    unchanged,
    skipped: [...list.leftOut, ...result.skipped],
    conflicts,
    warnings,
    changed: changed.map(({ name, differences }) => ({ tool: name, differences })),
    flagged: lock.tools.flatMap(({ definition, flags }) =>
      flags === undefined ? [] : [{ tool: definition.name, flags }],
    ),
  };
}

/** The listed definitions, with accepted ones in place of those that changed. */
function withAccepted(listed: readonly unknown[], changed: readonly ChangedTool[]): unknown[] {
  const accepted = new Map<unknown, unknown>(changed.map(({ name, locked }) => [name, locked.definition]));
  return listed.map((definition) => accepted.get((definition as { name?: unknown }).name) ?? definition);
}

/** Refuses a folder that contains the user's files. */
async function assertFree(server: string, directory: string): Promise<void> {
  const { listForeignModules } = await import("@cem/tool-files");
  const [foreign] = await listForeignModules(directory);
  if (foreign === undefined) return;
  const message = `${directory} holds ${foreign}, which was not generated, so the tools of server "${server}" can't go there. Give the server another name.`;
  throw new CemError("SERVER_FOLDER_TAKEN", message, { details: { server, directory } });
}

function failed(server: string, directory: string, error: ErrorInfo): GeneratedServer {
  const files = { written: [], removed: [], skipped: [], conflicts: [], unchanged: 0 };
  const nothing = { tools: 0, ...files, warnings: [], changed: [], flagged: [] };
  return { server, state: "error", error, directory, ...nothing };
}
