import type { ToolSource } from "@cem/bridge";
import { toErrorInfo } from "@cem/core";
import type { ResultStore, ToolCatalog, ToolServer } from "@cem/core";
import type { ContentChange } from "../connection/connection-types.ts";
import type { McpConnections } from "../connections.ts";
import { withAvailability } from "./generated/availability.ts";
import { createServerStarter, examineServers } from "./generated/examine-servers.ts";
import type { ExaminedServer, ExamineOptions } from "./generated/examine-servers.ts";
import { generateServer, generateServers, generatingMissing } from "./generated/generate-servers.ts";
import type { GeneratedServer, GenerateOptions } from "./generated/generate-servers.ts";
import { GeneratedFolders } from "./generated/generated-folders.ts";
import type { GeneratedFolder } from "./generated/generated-folders.ts";
import { createGeneratedToolSource } from "./generated/generated-tool-source.ts";
import { takeInChanges, watchChanges } from "./generated/tool-updates.ts";
import type { ToolsChange } from "./generated/tool-updates.ts";
import { createMcpServers } from "./servers/mcp-servers.ts";
import type { ConfiguredServer, McpServersSettings } from "./servers/mcp-servers.ts";

export interface McpToolsSettings extends McpServersSettings {
  /**
   * Whether a tool whose definition changed is held back until the change is accepted.
   *
   * @defaultValue true
   */
  holdChanged?: boolean | undefined;
  /**
   * Whether files of generated tools are written while they are used: missing ones, and updates by what servers list anew.
   *
   * @defaultValue true
   */
  changesFiles?: boolean | undefined;
  /** Keeps images, other bytes and large results. Absent: they come back inside the results, up to a bound. */
  store?: ResultStore | undefined;
}

/** The tools of MCP servers: generated as files, listed in a catalog, called through the bridge. */
export interface McpTools {
  /** The servers by name, in the order of the settings. */
  readonly servers: ReadonlyMap<string, ConfiguredServer>;
  /** The generated tools, for a bridge to call. */
  readonly source: ToolSource;
  /** Reads a generated folder's server and tools from its lock file, for discovery. `undefined`: it was not generated. */
  readListed(folder: string): Promise<ToolServer | undefined>;
  /**
   * Marks the tools of a catalog that can't be called now, as far as that is known. Connects to servers without files only,
   * where it may write these.
   */
  withAvailability(catalog: ToolCatalog): ToolCatalog;
  /** Starts the servers that the code imports from. A failure shows at the first call. */
  startNamed(code: string): Promise<void>;
  /**
   * Writes the files of servers' tools.
   *
   * @throws CemError `SERVER_NOT_FOUND` for a name that is not configured.
   */
  generate(options?: GenerateOptions): Promise<GeneratedServer[]>;
  /** Tries every enabled server, all at once. */
  examine(options?: ExamineOptions): Promise<ExaminedServer[]>;
  /**
   * The connections, for use with one server.
   *
   * @throws what is wrong with the server's settings.
   */
  connectionsFor(server: string): Promise<McpConnections>;
  /** The folder of a server's generated tools, absolute. */
  folderOf(server: string): Promise<string>;
  /**
   * A server's generated tools as they were accepted.
   *
   * @returns `undefined` where none were generated.
   * @throws CemError `TOOL_LOCK_INVALID`.
   */
  readGenerated(server: string): Promise<GeneratedFolder | undefined>;
  /**
   * Calls the listener when a connected server's tools changed. New ones have their files then and can be imported.
   */
  onToolsChanged(listener: (change: ToolsChange) => void): void;
  /** Calls the listener when a connected server said that its resources or prompts, or a resource that is watched, changed. */
  onContentsChanged(listener: (server: string, change: ContentChange) => void): void;
  /** Ends every connection and server process. Safe to call twice. */
  close(): Promise<void>;
}

/** Sets up the tools of MCP servers. Nothing is loaded or started before it is needed, and no server waits for another. */
export function createMcpTools(settings: McpToolsSettings): McpTools {
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
  const generateMissing = async (server: string): Promise<void> => {
    try {
      await watch.inTurn(server, () => generateServer(parts, server));
      const added = [...((await folders.read(await servers.folderOf(server)))?.definitions.keys() ?? [])];
      watch.announce({ server, added, changed: [], held: false, removed: [] });
    } catch (error) {
      const message = `Server "${server}" gave no tools yet and is asked again later: ${toErrorInfo(error).message}`;
      onLog?.({ server, level: "warn", source: "client", message });
    }
  };
  return {
    servers: servers.byName,
    source,
    readListed: async (folder) => (await folders.read(folder))?.server,
    withAvailability: (catalog) =>
      withAvailability(changesFiles ? generatingMissing(catalog, parts, generateMissing) : catalog, parts),
    startNamed: createServerStarter(parts),
    generate: (options) => generateServers(parts, options),
    examine: (options) => examineServers(parts, options),
    connectionsFor: (server) => servers.connectionsFor(server),
    folderOf: (server) => servers.folderOf(server),
    readGenerated: async (server) => folders.read(await servers.folderOf(server)),
    onToolsChanged: (listener) => watch.onChange(listener),
    onContentsChanged: (listener) => void contentListeners.add(listener),
    async close() {
      await servers.close();
      await watch.settled();
    },
  };
}
