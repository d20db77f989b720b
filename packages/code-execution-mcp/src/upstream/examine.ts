import { toErrorInfo } from "@cem/core";
import type { ToolFlag } from "@cem/core";
import type { ServerStatus } from "@cem/mcp-client";
import type { Upstream } from "./create-upstream.ts";

/** How long servers have to show that they are there, in milliseconds. */
const EXAMINE_TIMEOUT_MS = 10_000;

/** How one MCP server stands, as tried. */
export interface ExaminedServer extends ServerStatus {
  /** Tools that have a generated file. Absent: none was generated. */
  generated?: number | undefined;
  /** Tools whose definition is not the one that was accepted. */
  changed: string[];
  /** Tools that the server has and that have no file. */
  added: string[];
  flagged: { tool: string; flags: readonly ToolFlag[] }[];
}

export interface ExamineOptions {
  signal?: AbortSignal | undefined;
  /** One server. Default: all. */
  only?: string | undefined;
  /** How long servers have to answer. Default: 10 s. */
  timeoutMs?: number | undefined;
}

/** Tries every server that is not switched off, all at once. One that does not answer in time is `connecting`. */
export async function examineServers(
  upstream: Upstream,
  { signal, only, timeoutMs = EXAMINE_TIMEOUT_MS }: ExamineOptions = {},
): Promise<ExaminedServer[]> {
  if (upstream.servers.size === 0) return [];
  const live = await upstream.connections();
  const late = AbortSignal.timeout(timeoutMs);
  const both = signal === undefined ? late : AbortSignal.any([late, signal]);
  if (only === undefined) await live.check({ signal: both });
  else await live.listTools(only, { signal: both, refresh: true }).catch(() => {});
  signal?.throwIfAborted();
  const examined = live.status().filter(({ name }) => only === undefined || name === only);
  return Promise.all(examined.map((status) => describe(status, upstream)));
}

async function describe(status: ServerStatus, upstream: Upstream): Promise<ExaminedServer> {
  const { name } = status;
  const { error } = upstream.servers.get(name) ?? {};
  const shown: ServerStatus =
    error === undefined ? status : { ...status, state: "down", lastError: toErrorInfo(error) };
  const list = (await upstream.connections()).knownTools(name);
  try {
    const generated = await upstream.folders.read(await upstream.folderOf(name));
    if (generated === undefined) return { ...shown, changed: [], added: [], flagged: [] };
    const { lock, definitions } = generated;
    const comparison = list === undefined ? undefined : await upstream.changes.compare(list, lock);
    return {
      ...shown,
      generated: lock.tools.length,
      changed: comparison?.changed.map((change) => change.name) ?? [],
      added: comparison?.added.map((definition) => definition.name) ?? [],
      flagged: [...definitions].flatMap(([tool, { flags }]) =>
        flags === undefined ? [] : [{ tool, flags }],
      ),
    };
  } catch (thrown) {
    return { ...shown, lastError: toErrorInfo(thrown), changed: [], added: [], flagged: [] };
  }
}
