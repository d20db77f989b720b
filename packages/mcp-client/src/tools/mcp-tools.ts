import { toErrorInfo, type ErrorInfo, type ResultStore, type ToolCatalog } from "@cem/core";
import type { ContentChange } from "../connection/connection-types.ts";
import { withAvailability } from "./generated/availability.ts";
import { createServerStarter, examineServers, type ExamineOptions } from "./generated/examine-servers.ts";
import { generateServer, generateServers, generatingMissing } from "./generated/generate-servers.ts";
import type { GenerateOptions } from "./generated/generate-servers.ts";
import { GeneratedFolders } from "./generated/generated-folders.ts";
import { createGeneratedToolSource } from "./generated/generated-tool-source.ts";
import { namesInCode } from "./generated/names-in-code.ts";
import { takeInChanges, watchChanges } from "./generated/tool-updates.ts";
import { createMcpServers, type McpServersSettings } from "./servers/mcp-servers.ts";

export interface McpToolsSettings extends McpServersSettings {
  /**
   * Whether a tool whose definition changed is held back until the change is accepted.
   *
   * @defaultValue true
   */
  holdChanged?: boolean | undefined;
  /**
   * Whether files of generated tools are written during use: missing ones, and updates from new lists of servers.
   *
   * @defaultValue true
   */
  changesFiles?: boolean | undefined;
  /** Stores images, other bytes and large results. Absent: they are returned inside the results, up to a limit. */
  store?: ResultStore | undefined;
}

/** The tools of MCP servers: generated as files, listed in a catalog, called through the bridge. */
export type McpTools = ReturnType<typeof createMcpTools>;

/** Sets up the tools of MCP servers. Everything is loaded and started on first use, and no server waits for another. */
export function createMcpTools(settings: McpToolsSettings) {
  const { holdChanged = true, changesFiles = true, store, onLog } = settings;
  const folders = new GeneratedFolders();
  const watch = watchChanges(
    async (server, list) => (changesFiles ? takeInChanges(parts, server, list) : undefined),
    onLog ?? (() => {}),
  );
  const contentListeners = new Set<(server: string, change: ContentChange) => void>();
  const servers = createMcpServers(settings, {
    onToolsListed: (server, list) => watch.onListed(server, list),
    onContentsChanged(server, change) {
      for (const listener of contentListeners) listener(server, change);
    },
  });
  const parts = { servers, folders, holdChanged, inTurn: watch.inTurn };
  const source = createGeneratedToolSource({
    ...parts,
    store,
    onUnvalidated({ server, tool, reason }) {
      const message = `${server}.${tool}: its result is not checked: ${reason}.`;
      onLog?.({ server, level: "warn", source: "client", message });
    },
  });
  const generateMissing = async (server: string): Promise<ErrorInfo | undefined> => {
    if (!changesFiles) return undefined;
    try {
      const { skipped, warnings } = await watch.inTurn(server, () => generateServer(parts, server));
      // The connection has told of those that it leaves out.
      const known = new Set(servers.openConnections()?.knownTools(server)?.leftOut);
      for (const one of skipped.filter((left) => !known.has(left))) {
        const message = `Server "${server}": tool "${one.name}" is left out: ${one.reason}`;
        onLog?.({ server, level: "warn", source: "client", message });
      }
      for (const one of warnings) {
        const message = `Server "${server}": tool "${one.tool}": ${one.message}`;
        onLog?.({ server, level: "debug", source: "client", message });
      }
      const added = [...((await folders.read(await servers.folderOf(server)))?.definitions.keys() ?? [])];
      watch.announce({ server, added, changed: [], held: false, removed: [] });
      return undefined;
    } catch (thrown) {
      const error = toErrorInfo(thrown);
      const message = `Server "${server}" gave no tools yet and is asked again later: ${error.message}`;
      onLog?.({ server, level: "warn", source: "client", message });
      return error;
    }
  };
  return {
    /** The servers by name, in the order of the settings. */
    servers: servers.byName,
    source,
    /** Reads a generated folder's server and tools from its lock file, for discovery. `undefined`: it was not generated. */
    readListed: async (folder: string) => (await folders.read(folder))?.server,
    /**
     * Marks the tools of a catalog that are known to be unavailable. Only connects to servers without generated files, and
     * only if it may write them.
     */
    withAvailability: (catalog: ToolCatalog) =>
      withAvailability(generatingMissing(catalog, parts, generateMissing, watch.isHeard), parts),
    /** Starts the servers that the code imports from. A failure is reported by the first call. */
    startNamed: createServerStarter(parts),
    /**
     * Writes the files of servers' tools.
     *
     * @throws CemError `SERVER_NOT_FOUND` for a name that is not configured.
     */
    generate: (options?: GenerateOptions) => generateServers(parts, options),
    examine: (options?: ExamineOptions) => examineServers(parts, options),
    /**
     * The connections, for use with one server.
     *
     * @throws the error in the server's settings.
     */
    connectionsFor: servers.connectionsFor,
    folderOf: servers.folderOf,
    /** Finds the names that a tool has in code. Connects to nothing. */
    findNameInCode: namesInCode(settings.servers, settings.serversDir, folders),
    /**
     * A server's generated tools as they were accepted.
     *
     * @returns `undefined` if none were generated.
     * @throws CemError `TOOL_LOCK_INVALID`.
     */
    readGenerated: async (server: string) => folders.read(await servers.folderOf(server)),
    /** Calls the listener when a connected server's tools changed, after the files of new tools were written. */
    onToolsChanged: watch.onChange,
    /** Calls the listener when a connected server reports a change of its resources or prompts, or of a watched resource. */
    onContentsChanged: (listener: (server: string, change: ContentChange) => void) =>
      void contentListeners.add(listener),
    /** Ends every connection and server process. Safe to call twice. */
    async close() {
      await servers.close();
      await watch.settled();
    },
  };
}
