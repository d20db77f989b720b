import { statSync } from "node:fs";
import path from "node:path";
import { CemError, type ToolDefinition, type ToolServer } from "@cem/core";
import type { LockComparison, LockedTool, ServerLock } from "@cem/tool-files";
import type { ToolList } from "../../connection/connection-types.ts";
import { isServerRequest, serverRequestDefinitions } from "../../connection/server-request-definitions.ts";
import type { McpServers } from "../servers/mcp-servers.ts";

/** The lock file's name. Repeated from @cem/tool-files, which is loaded only for folders that have one. */
const LOCK_FILE = "tools.lock.json";
/** Pattern of a plain name. A server's self-reported name is only shown if it matches. */
const PLAIN_NAME = /^[\w@./-]{1,64}$/;

/** A server's folder of generated files, read from its lock file. */
export interface GeneratedFolder {
  lock: ServerLock;
  /** The server with its tools, as the catalog lists it. The same object until the lock changes. */
  server: ToolServer;
  /** By the tool's name at the server. */
  locked: ReadonlyMap<string, LockedTool>;
  /** By the tool's name at the server. */
  definitions: ReadonlyMap<string, ToolDefinition>;
}

/** Reads generated folders. Checks lock files for changes at each read, and parses them again only if they changed. */
export class GeneratedFolders {
  readonly #known = new Map<string, { stamp: string; generated: GeneratedFolder }>();
  readonly #compared = new WeakMap<ToolList, { lock: ServerLock; comparison: LockComparison }>();

  /** Compares a server's list with a lock. Results are cached per list and lock. */
  async compare(list: ToolList, lock: ServerLock): Promise<LockComparison> {
    const present = this.#compared.get(list);
    if (present?.lock === lock) return present.comparison;
    const { compareWithLock } = await import("@cem/tool-files");
    const comparison = compareWithLock(definitionsOf(list), lock);
    // The functions for resources and prompts are ours and never count as changed.
    comparison.changed = comparison.changed.filter(({ name }) => !isServerRequest(name));
    this.#compared.set(list, { lock, comparison });
    return comparison;
  }

  /** Returns the folder as last read, unless its lock has changed since. */
  current(folder: string): GeneratedFolder | undefined {
    const known = this.#known.get(folder);
    return known?.stamp === stampOf(path.join(folder, LOCK_FILE)) ? known?.generated : undefined;
  }

  /**
   * @returns `undefined` for a folder that was not generated.
   * @throws CemError `TOOL_LOCK_INVALID`.
   */
  async read(folder: string): Promise<GeneratedFolder | undefined> {
    const present = this.current(folder);
    if (present !== undefined) return present;
    this.#known.delete(folder);
    const stamp = stampOf(path.join(folder, LOCK_FILE));
    if (stamp === undefined) return undefined;
    const { readLock } = await import("@cem/tool-files");
    const found = await readLock(folder);
    if (found === undefined) return undefined;
    const generated = toGenerated(path.basename(folder), found.lock, found.tools);
    this.#known.set(folder, { stamp, generated });
    return generated;
  }
}

/** Runs work that reads or writes the files of a server after all earlier such work has ended. */
export type InTurn = <Result>(server: string, work: () => Result | Promise<Result>) => Promise<Result>;

export interface GeneratedParts {
  servers: McpServers;
  folders: GeneratedFolders;
  /** Whether a tool whose definition changed is held back until the change is accepted. */
  holdChanged: boolean;
  inTurn: InTurn;
}

/**
 * Identifies a state of a file. Synchronous, since every tool call needs it: this takes 2 µs, while the thread pool takes
 * 25 µs or more.
 */
function stampOf(file: string): string | undefined {
  try {
    const found = statSync(file, { bigint: true, throwIfNoEntry: false });
    return found === undefined ? undefined : `${found.ino}:${found.size}:${found.mtimeNs}`;
  } catch {
    return undefined;
  }
}

function toGenerated(name: string, lock: ServerLock, tools: ToolDefinition[]): GeneratedFolder {
  const { info } = lock.server;
  const about = [info.name, info.version].filter((part) => PLAIN_NAME.test(part ?? "")).join(" ");
  const description = about === "" ? "An MCP server." : `The MCP server ${about}.`;
  return {
    lock,
    server: { name, description, kind: "host", tools },
    locked: new Map(lock.tools.map((tool) => [tool.definition.name, tool])),
    definitions: new Map(tools.map((tool) => [tool.originalName ?? tool.name, tool])),
  };
}

/** The definitions of a list as sent by the server, and those of the functions for its resources and prompts. */
export function definitionsOf(list: ToolList): unknown[] {
  return [...list.tools.map(({ definition }) => definition), ...serverRequestDefinitions(list)];
}

const MAX_LISTED_PLACES = 3;

/** `TOOL_CHANGED`: the server's definition differs from the accepted one. */
export function toolChanged(
  server: string,
  { definition: { name: tool } }: LockedTool,
  places: readonly string[],
): CemError {
  const changed = places.slice(0, MAX_LISTED_PLACES).join(", ");
  const message = `Server "${server}" changed the definition of ${tool} (${changed}), which is held back until the change is accepted.`;
  return new CemError("TOOL_CHANGED", message, { details: { server, tool, places } });
}
