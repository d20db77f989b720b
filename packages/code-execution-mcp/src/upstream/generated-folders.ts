import { stat } from "node:fs/promises";
import path from "node:path";
import type { ToolDefinition, ToolServer } from "@cem/core";
import type { LockedTool, ServerLock } from "@cem/tool-files";

/** As @cem/tool-files names it, which is only loaded where there is one. */
const LOCK_FILE = "tools.lock.json";
/** What servers say of themselves is shown only where it can't be more than a name. */
const PLAIN_NAME = /^[\w@./-]{1,64}$/;

/** A server's generated folder, as its lock describes it. */
export interface GeneratedFolder {
  lock: ServerLock;
  /** As the catalog lists it. The same object for as long as the lock does not change. */
  server: ToolServer;
  /** By the name that is sent. */
  locked: ReadonlyMap<string, LockedTool>;
  /** By the name that is sent. */
  definitions: ReadonlyMap<string, ToolDefinition>;
}

/** Reads generated folders by their locks, each again only when its lock changed. */
export interface GeneratedFolders {
  /**
   * @returns `undefined` for a folder that was not generated.
   * @throws CemError `TOOL_LOCK_INVALID`.
   */
  read(folder: string): Promise<GeneratedFolder | undefined>;
}

export function createGeneratedFolders(): GeneratedFolders {
  const known = new Map<string, { stamp: string; generated: GeneratedFolder }>();
  return {
    async read(folder) {
      const stamp = await stampOf(path.join(folder, LOCK_FILE));
      if (stamp === undefined) return undefined;
      const present = known.get(folder);
      if (present?.stamp === stamp) return present.generated;
      // Only who has generated tools pays for loading what reads them.
      const { readLock } = await import("@cem/tool-files");
      const found = await readLock(folder);
      if (found === undefined) return undefined;
      const generated = toGenerated(path.basename(folder), found.lock, found.tools);
      known.set(folder, { stamp, generated });
      return generated;
    },
  };
}

async function stampOf(file: string): Promise<string | undefined> {
  const found = await stat(file, { bigint: true }).catch(() => undefined);
  return found === undefined ? undefined : `${found.ino}:${found.size}:${found.mtimeNs}`;
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
