import { access, constants, stat } from "node:fs/promises";
import path from "node:path";
import type { LoadedConfig } from "@cem/config";
import type { CatalogSnapshot, SandboxProbe } from "@cem/core";
import type { ExaminedServer } from "@cem/mcp-tools";
import { probeSandboxes } from "../wiring/choose-sandbox.ts";
import { inspectSearch } from "../wiring/configured-selector.ts";
import type { SearchReport } from "../wiring/configured-selector.ts";
import { createListedCatalog } from "../wiring/host-bridge.ts";
import type { PluginReport } from "../plugins/open-plugins.ts";
import { disposeLoaded } from "../wiring/customer.ts";
import { loadFrom } from "../wiring/load.ts";
import { reportPlugins } from "../wiring/plugins.ts";
import { createLog, logged } from "../wiring/log.ts";
import { openMcpTools } from "../wiring/mcp-tools.ts";
import type { ServerSource } from "./mcp-servers.ts";

/** What a folder of the configuration is like on this host. */
export interface FolderReport {
  path: string;
  exists: boolean;
  /** Whether it, or the folder it would be made in, can be written. */
  writable: boolean;
}

/** What an agent would find here. */
export interface HostReport {
  /** Version of the Node that runs this, without the v. */
  node: string;
  configuration: LoadedConfig;
  workspace: FolderReport;
  servers: FolderReport;
  skills: FolderReport;
  catalog: CatalogSnapshot;
  /** The configured MCP servers, each tried. */
  upstream: ExaminedServer[];
  search: SearchReport;
  /** The plugins in their order. Those that are held back were not loaded. */
  plugins: PluginReport[];
  sandboxes: { name: string; probe: SandboxProbe }[];
}

/**
 * Looks at everything an agent needs: connects to MCP servers, and runs no code.
 *
 * @throws CemError `CONFIG_INVALID` or `CONFIG_NOT_FOUND`.
 */
export async function inspectHost(source: ServerSource = {}): Promise<HostReport> {
  const options = { signal: source.signal };
  const configuration = await loadFrom(source);
  const { config } = configuration;
  const { workspaceDir, serversDir, skillsDir } = config.execution;
  const log = createLog(config, source.onLog);
  const pluginSet = await configuration.pluginSet?.get();
  const mcpTools = await openMcpTools(configuration, { log });
  const inspect = async (): Promise<HostReport> => {
    const examined = mcpTools.examine(options);
    const [workspace, servers, skills, catalog, upstream, search, sandboxes, plugins] = await Promise.all([
      inspectFolder(workspaceDir),
      inspectFolder(serversDir),
      inspectFolder(skillsDir),
      examined
        .then(() => createListedCatalog(configuration, mcpTools))
        .then((catalog) => catalog.list(options)),
      examined,
      inspectSearch(config),
      probeSandboxes(config, { ...options, plugins: pluginSet }),
      pluginSet === undefined ? [] : reportPlugins(configuration, pluginSet),
    ]);
    const { node } = process.versions;
    const folders = { workspace, servers, skills };
    return { node, configuration, ...folders, catalog, upstream, search, sandboxes, plugins };
  };
  try {
    return await logged(log, "examining this host", inspect);
  } finally {
    await mcpTools.close();
    await disposeLoaded(configuration);
  }
}

async function inspectFolder(folder: string): Promise<FolderReport> {
  const found = await stat(folder).catch(() => undefined);
  if (found !== undefined) {
    return {
      path: folder,
      exists: found.isDirectory(),
      writable: found.isDirectory() && (await isWritable(folder)),
    };
  }
  return { path: folder, exists: false, writable: await isWritable(await nearestExisting(folder)) };
}

async function isWritable(folder: string): Promise<boolean> {
  return access(folder, constants.W_OK).then(
    () => true,
    () => false,
  );
}

async function nearestExisting(folder: string): Promise<string> {
  const parent = path.dirname(folder);
  if (parent === folder || (await stat(folder).catch(() => undefined))?.isDirectory()) return folder;
  return nearestExisting(parent);
}
