import { access, constants, stat } from "node:fs/promises";
import path from "node:path";
import type { LoadedConfig } from "@cem/config";
import type { CatalogSnapshot, SandboxProbe } from "@cem/core";
import type { AgentOptions, ConfigSource } from "./agent-options.ts";
import { inspectSearch, type SearchReport } from "./configured-selector.ts";
import { probeSandboxes } from "./choose-sandbox.ts";
import { createCatalog } from "./create-agent.ts";
import { withHostToolFiles } from "./hosted.ts";
import { loadFrom } from "./load.ts";
import { examineServers } from "./upstream/examine.ts";
import type { ExaminedServer } from "./upstream/examine.ts";
import { openUpstream } from "./upstream/open-upstream.ts";

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
  sandboxes: { name: string; probe: SandboxProbe }[];
}

/**
 * Looks at everything an agent needs: connects to MCP servers, and runs no code.
 *
 * @throws CemError `CONFIG_INVALID` or `CONFIG_NOT_FOUND`.
 */
export async function inspectHost(
  source: ConfigSource & Pick<AgentOptions, "onLog"> & { signal?: AbortSignal | undefined } = {},
): Promise<HostReport> {
  const options = source.signal === undefined ? {} : { signal: source.signal };
  const configuration = await loadFrom(source);
  const { config } = configuration;
  const { workspaceDir, serversDir, skillsDir } = config.execution;
  const connected = openUpstream(configuration, { onLog: source.onLog });
  try {
    const examined = examineServers(connected, options);
    const [workspace, servers, skills, catalog, upstream, search, sandboxes] = await Promise.all([
      inspectFolder(workspaceDir),
      inspectFolder(serversDir),
      inspectFolder(skillsDir),
      examined
        .then(() => withHostToolFiles(createCatalog(config, connected), config))
        .then((catalog) => catalog.list(options)),
      examined,
      inspectSearch(config),
      probeSandboxes(config, options),
    ]);
    const { node } = process.versions;
    return { node, configuration, workspace, servers, skills, catalog, upstream, search, sandboxes };
  } finally {
    await connected.close();
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
