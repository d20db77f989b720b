import { toErrorInfo } from "@cem/core";
import type { ToolFlag } from "@cem/core";
import type { McpConnections, ServerStatus } from "@cem/mcp-client";
import type { GeneratedFolders } from "../generated/generated-folders.ts";
import type { ToolChanges } from "../generated/tool-changes.ts";
import type { McpServers } from "./mcp-servers.ts";

const DEFAULT_TIMEOUT_MS = 10_000;

/** The state of one MCP server, as tried. */
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
  /** The only server to try. Default: all. */
  only?: string | undefined;
  /**
   * How long servers have to answer, in milliseconds.
   *
   * @defaultValue 10,000
   */
  timeoutMs?: number | undefined;
}

interface ExamineParts {
  servers: McpServers;
  folders: GeneratedFolders;
  changes: ToolChanges;
}

/** Tries every enabled server, all at once. One that does not answer in time is reported as `connecting`. */
export async function examineServers(
  parts: ExamineParts,
  { signal, only, timeoutMs = DEFAULT_TIMEOUT_MS }: ExamineOptions = {},
): Promise<ExaminedServer[]> {
  if (parts.servers.byName.size === 0) return [];
  const connections = await parts.servers.connections();
  const timeout = AbortSignal.timeout(timeoutMs);
  const either = signal === undefined ? timeout : AbortSignal.any([timeout, signal]);
  if (only === undefined) await connections.check({ signal: either });
  else await connections.listTools(only, { signal: either, refresh: true }).catch(() => {});
  signal?.throwIfAborted();
  const examined = connections.status().filter(({ name }) => only === undefined || name === only);
  return Promise.all(examined.map((status) => examine(status, connections, parts)));
}

async function examine(
  status: ServerStatus,
  connections: McpConnections,
  { servers, folders, changes }: ExamineParts,
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
    const comparison = list === undefined ? undefined : await changes.compare(list, lock);
    return {
      ...known,
      generated: lock.tools.length,
      changed: [...(comparison?.changed.keys() ?? [])],
      added: comparison?.added.map((definition) => definition.name) ?? [],
      flagged: [...definitions].flatMap(([tool, { flags }]) =>
        flags === undefined ? [] : [{ tool, flags }],
      ),
    };
  } catch (thrown) {
    return { ...known, lastError: toErrorInfo(thrown), ...nothing };
  }
}
