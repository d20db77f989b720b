import { statSync } from "node:fs";
import path from "node:path";
import { CemError } from "@cem/core";
import type { ToolDefinition, ToolServer } from "@cem/core";
import type { LockComparison, LockedTool, ServerLock } from "@cem/tool-files";
import type { ToolList } from "../../connection/connection-types.ts";
import { isServerRequest, serverRequestDefinitions } from "../../connection/server-request-definitions.ts";
import type { McpServers } from "../servers/mcp-servers.ts";

/** The lock file's name. Repeated from @cem/tool-files, which is loaded only for folders that have one. */
const LOCK_FILE = "tools.lock.json";
/** The server's own name is shown only if it can't be more than a name. */
const PLAIN_NAME = /^[\w@./-]{1,64}$/;

/** A server's folder of generated files, read from its lock file. */
export interface GeneratedFolder {
  lock: ServerLock;
  /** The server with its tools, as the catalog lists it. The same object until the lock changes. */
  server: ToolServer;
  /** By the name that the server calls the tool. */
  locked: ReadonlyMap<string, LockedTool>;
  /** By the name that the server calls the tool. */
  definitions: ReadonlyMap<string, ToolDefinition>;
}

/** Reads generated folders, and parses a lock file again only when it changed, which it looks up at each read. */
export class GeneratedFolders {
  readonly #known = new Map<string, { stamp: string; generated: GeneratedFolder }>();
  readonly #compared = new WeakMap<ToolList, { lock: ServerLock; comparison: LockComparison }>();

  /** Compares what a server lists with a lock. The result for each list and its lock is cached. */
  async compare(list: ToolList, lock: ServerLock): Promise<LockComparison> {
    const present = this.#compared.get(list);
    if (present?.lock === lock) return present.comparison;
    const { compareWithLock } = await import("@cem/tool-files");
    const comparison = compareWithLock(definitionsOf(list), lock);
    // The functions for resources and prompts are ours: they are never changed.
    comparison.changed = comparison.changed.filter(({ name }) => !isServerRequest(name));
    this.#compared.set(list, { lock, comparison });
    return comparison;
  }

  /** A folder as it was read, unless its lock has changed since. */
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

/** Runs work that reads or writes the files of a server when all such work that came before has ended. */
export type InTurn = <Result>(server: string, work: () => Result | Promise<Result>) => Promise<Result>;

/** The servers whose tools were generated, and their files. */
export interface GeneratedParts {
  servers: McpServers;
  folders: GeneratedFolders;
  /** Whether a tool whose definition changed is held back until the change is accepted. */
  holdChanged: boolean;
  inTurn: InTurn;
}

/**
 * Identifies a state of a file. Synchronous, since every call of a tool asks: this takes 2 µs, and a thread of the pool
 * takes from 25 µs up to a place in the queue.
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

/** The definitions of a list, as the server sent them, and those of the functions for its resources and prompts. */
export function definitionsOf(list: ToolList): unknown[] {
  return [...list.tools.map(({ definition }) => definition), ...serverRequestDefinitions(list)];
}

const MAX_LISTED_PLACES = 3;

/** `TOOL_CHANGED`: the definition that the server sends is not the one that was accepted. */
export function toolChanged(
  server: string,
  { definition: { name: tool } }: LockedTool,
  places: readonly string[],
): CemError {
  const changed = places.slice(0, MAX_LISTED_PLACES).join(", ");
  return new CemError(
    "TOOL_CHANGED",
    `Server "${server}" changed the definition of ${tool} (${changed}), which is held back until the change is accepted.`,
    { details: { server, tool, places } },
  );
}
