import path from "node:path";
import type { ToolList } from "@cem/mcp-client";
import type { McpServers } from "../servers/mcp-servers.ts";
import type { GeneratedFolders } from "./generated-folders.ts";
import { definitionsOf } from "./tool-changes.ts";
import type { ToolChanges } from "./tool-changes.ts";

/** How the tools that a server lists now differ from those that were generated. */
export interface ToolsChange {
  server: string;
  /** New tools, which code can import from now on. */
  added: string[];
  /** Tools whose definition is another than the accepted one. */
  changed: string[];
  /** Whether those are held back. */
  held: boolean;
  /** Tools that the server has no more. Their files stay, so that they can't come back as other tools unseen. */
  removed: string[];
}

interface TakeInParts {
  servers: McpServers;
  folders: GeneratedFolders;
  changes: ToolChanges;
  /** Whether changed definitions are left as they were accepted. */
  holdChanged: boolean;
}

/**
 * Writes the files of the tools that a server has since they were generated.
 *
 * @returns `undefined` for a server whose tools were not generated.
 */
export async function takeInChanges(
  { servers, folders, changes, holdChanged }: TakeInParts,
  server: string,
  list: ToolList,
): Promise<ToolsChange | undefined> {
  const directory = await servers.folderOf(server);
  const before = await folders.read(directory);
  if (before === undefined) return undefined;
  const { lock } = before;
  const { added, changed, removed } = await changes.compare(list, lock);
  const isNew = new Set(added.map(({ name }) => name));
  if (isNew.size > 0 || (changed.size > 0 && !holdChanged)) {
    const { writeServerFiles } = await import("@cem/tool-files");
    const listed = new Map((await definitionsOf(list)).map((one) => [(one as { name: string }).name, one]));
    const kept = lock.tools.map(({ definition }) =>
      holdChanged ? definition : (listed.get(definition.name) ?? definition),
    );
    await writeServerFiles({
      serversDir: path.dirname(directory),
      folder: path.basename(directory),
      server,
      serverInfo: lock.server.info,
      definitions: [...kept, ...[...isNew].map((name) => listed.get(name))],
    });
  }
  return {
    server,
    added: [...isNew],
    changed: [...changed.keys()],
    held: holdChanged,
    removed: removed.map(({ definition }) => definition.name),
  };
}
