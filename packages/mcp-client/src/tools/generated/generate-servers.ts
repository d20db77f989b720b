import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { abandonOnAbort, CemError, copyBeginning, forClients, toErrorInfo } from "@cem/core";
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
/** How long it waits once there are other tools, in milliseconds, where those that come later are announced. */
const SHORT_WAIT_MS = 10_000;
/** Length of the reason why a server has no tools, in characters. */
const MAX_REASON_CHARACTERS = 500;
/** Initial delay before retrying servers that returned no tools, in milliseconds. It doubles each time. */
const FIRST_RETRY_MS = 30_000;

/** A server without files, in the latest attempt to generate them. */
interface MissingServer {
  server: string;
  generated: Promise<void>;
  isStarting: boolean;
  error?: ErrorInfo | undefined;
}

/**
 * A catalog that, when listed, generates the tools of configured servers without files. Tools of slow servers appear in a
 * later list.
 *
 * @param generate - Generates the files of one server, and returns why it could not. Never rejects.
 * @param isHeard - Whether anyone is told of tools that come later. The process of a single command ends before.
 */
export function generatingMissing(
  catalog: ToolCatalog,
  { servers, folders }: GeneratedParts,
  generate: (server: string) => Promise<ErrorInfo | undefined>,
  isHeard: () => boolean,
): ToolCatalog {
  /** By folder. */
  let missing = new Map<string, MissingServer>();
  let begun: Promise<void> | undefined;
  let first: Promise<unknown> | undefined;
  let soon: Promise<unknown> | undefined;
  const some = Promise.withResolvers<void>();
  let nextAt = 0;
  let retryMs = FIRST_RETRY_MS;
  const complete = async (one: MissingServer): Promise<void> => {
    one.error = await generate(one.server);
    one.isStarting = false;
    if (one.error === undefined) some.resolve();
  };
  const begin = async (): Promise<void> => {
    const found: typeof missing = new Map();
    for (const [server, { enabled, error }] of servers.byName) {
      // An unreadable lock file is reported where it is used.
      const directory = await servers.folderOf(server);
      const read = await folders.read(directory).catch(() => "unreadable");
      if (typeof read === "object") some.resolve();
      if (!enabled || error !== undefined || read !== undefined) continue;
      const one: MissingServer = { server, generated: Promise.resolve(), isStarting: true };
      one.generated = complete(one);
      found.set(path.basename(directory), one);
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
        if (first === undefined) {
          first = Promise.race([attempted, pause(MAX_WAIT_MS)]);
          soon = Promise.race([
            first,
            some.promise.then(() => pause(isHeard() ? SHORT_WAIT_MS : MAX_WAIT_MS)),
          ]);
          soon.catch(() => {});
        }
      }
      const { servers: wanted, signal } = options ?? {};
      const needed = wanted && begun?.then(() => generated(wanted));
      const waited = needed === undefined ? soon : Promise.race([first, needed]);
      await abandonOnAbort(Promise.resolve(waited), signal);
      const snapshot = await catalog.list(options);
      const names = new Set(snapshot.servers.map(({ name }) => name));
      const absent = [...missing.values()].filter(({ server }) => !names.has(server));
      if (absent.length === 0) return snapshot;
      const problems = absent.map(async (one) => ({
        server: one.server,
        file: await servers.folderOf(one.server),
        message: whyNoTools(one),
      }));
      return { ...snapshot, problems: [...snapshot.problems, ...(await Promise.all(problems))] };
    },
  };
}

const pause = (ms: number): Promise<void> => wait(ms, undefined, { ref: false });

function whyNoTools({ server, isStarting, error }: MissingServer): string {
  if (isStarting)
    return `The MCP server "${server}" is still starting. Try again in a moment or, where cem runs, get its tools with  cem generate ${server}.`;
  const reason = error && copyBeginning(forClients(error).message, MAX_REASON_CHARACTERS);
  const said = `The MCP server "${server}" has given no tools yet${reason === undefined ? "" : `: ${reason}`}`;
  const advice =
    error?.code === "AUTH_REQUIRED"
      ? `sign in with  cem auth ${server}  or set headers on its entry`
      : `get them with  cem generate ${server}`;
  return `${said.replace(/\.?$/, ".")} Where cem runs, ${advice}.`;
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
