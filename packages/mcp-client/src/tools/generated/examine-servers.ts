import path from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { preloadSchemaValidation } from "@cem/bridge";
import { toErrorInfo, type ToolFlag } from "@cem/core";
import type { ServerStatus } from "../../connection/connection-types.ts";
import type { McpConnections } from "../../connections.ts";
import type { GeneratedParts } from "./generated-folders.ts";

const DEFAULT_TIMEOUT_MS = 10_000;

/** The state of one MCP server after contacting it. */
export interface ExaminedServer extends ServerStatus {
  /** How many tools have a generated file. Absent: no files were generated. */
  generated?: number | undefined;
  /** Tools whose definition is not the one that was accepted. */
  changed: string[];
  /** Tools of the server that have no file. */
  added: string[];
  flagged: { tool: string; flags: readonly ToolFlag[] }[];
}

export interface ExamineOptions {
  signal?: AbortSignal | undefined;
  /** The only server to contact. Default: all. */
  only?: string | undefined;
  /**
   * How long to wait for servers, in milliseconds.
   *
   * @defaultValue 10,000
   */
  timeoutMs?: number | undefined;
}

/** Contacts all enabled servers concurrently. One that does not answer in time is reported as `connecting`. */
export async function examineServers(
  parts: GeneratedParts,
  { signal, only, timeoutMs = DEFAULT_TIMEOUT_MS }: ExamineOptions = {},
): Promise<ExaminedServer[]> {
  if (parts.servers.byName.size === 0) return [];
  const connections = await parts.servers.connections();
  const timeout = AbortSignal.timeout(timeoutMs);
  const either = signal === undefined ? timeout : AbortSignal.any([timeout, signal]);
  const statuses = await connections.check({ only, signal: either });
  signal?.throwIfAborted();
  return Promise.all(statuses.map((status) => examine(status, connections, parts)));
}

async function examine(
  status: ServerStatus,
  connections: McpConnections,
  { servers, folders }: GeneratedParts,
): Promise<ExaminedServer> {
  const { name } = status;
  const error = servers.byName.get(name)?.error;
  const known: ServerStatus =
    error === undefined ? status : { ...status, state: "down", lastError: toErrorInfo(error) };
  const nothing = { changed: [], added: [], flagged: [] };
  try {
    const generated = await folders.read(await servers.folderOf(name));
    if (generated === undefined) return { ...known, ...nothing };
    const { lock, definitions } = generated;
    const list = connections.knownTools(name);
    const comparison = list === undefined ? undefined : await folders.compare(list, lock);
    return {
      ...known,
      generated: lock.tools.length,
      changed: comparison?.changed.map((change) => change.name) ?? [],
      added: comparison?.added.map((definition) => definition.name) ?? [],
      flagged: [...definitions].flatMap(([tool, { flags }]) =>
        flags === undefined ? [] : [{ tool, flags }],
      ),
    };
  } catch (thrown) {
    return { ...known, lastError: toErrorInfo(thrown), ...nothing };
  }
}

/** Starts the servers that code imports from, each once, since most take longer to start than anything else a run needs. */
export function createServerStarter({ servers }: Pick<GeneratedParts, "servers">) {
  const started = new Set<string>();
  return async (code: string): Promise<void> => {
    if (!code.includes("/servers/")) return;
    for (const [name, { enabled }] of servers.byName) {
      if (!enabled || started.has(name)) continue;
      const folder = path.basename(await servers.folderOf(name));
      if (!code.includes(`/servers/${folder}`)) continue;
      started.add(name);
      const connections = await servers.connections();
      // Failures are ignored, since the call itself will fail in the same way and report it.
      connections.listTools(name).catch(() => {});
      // The server's process is started first.
      void nextTurn()
        .then(preloadSchemaValidation)
        .catch(() => {});
    }
  };
}
