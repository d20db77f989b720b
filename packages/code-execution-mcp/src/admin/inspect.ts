import { access, constants, stat } from "node:fs/promises";
import path from "node:path";
import type { LoadedConfig, McpServerSetting } from "@cem/config";
import type { ServerSource } from "../options.ts";
import { createListedCatalog } from "../wiring/calls/host-bridge.ts";
import { logged } from "../wiring/log.ts";
import { loadConfig, openProject } from "../wiring/open-project.ts";
import { authFolder } from "../wiring/project.ts";
import { inspectPackages } from "../wiring/packages.ts";
import { probeSandboxes } from "../wiring/sandbox/choose-sandbox.ts";
import { openMcpTools } from "../wiring/servers/mcp-tools.ts";
import { inspectServices } from "../wiring/shared/inspect-services.ts";
import { inspectSearch } from "../wiring/stages/selector.ts";
import { secretsIn, unpinnedImage } from "./edit-servers.ts";
import { examineServers, openLog } from "./servers.ts";
import { inspectTrust } from "./trust.ts";

/** The configuration, folders and catalog that an agent would use here. */
export type HostReport = Awaited<ReturnType<typeof inspectHost>>;

/**
 * Inspects everything an agent needs. Connects to MCP servers, but runs no code.
 *
 * @throws CemError `CONFIG_INVALID` or `CONFIG_NOT_FOUND`.
 */
export async function inspectHost(source: ServerSource = {}) {
  const options = { signal: source.signal };
  const ofRecords: string[] = [];
  await using configuration = await openProject(source, () => (_, message) => void ofRecords.push(message));
  const { config } = configuration;
  const { workspaceDir, serversDir, skillsDir } = config.execution;
  const log = await openLog(configuration, source);
  const pluginSet = await configuration.pluginSet?.get();
  const mcpTools = await openMcpTools(configuration, { log, changesFiles: false });
  const inspect = async () => {
    const examined = examineServers(mcpTools, source.signal);
    const [workspace, servers, skills, catalog, upstream, search, packages, sandboxes, services] =
      await Promise.all([
        inspectFolder(workspaceDir),
        inspectFolder(serversDir),
        inspectFolder(skillsDir),
        examined
          .then(() => createListedCatalog(configuration, mcpTools))
          .then((catalog) => catalog.list(options)),
        examined,
        inspectSearch(config),
        inspectPackages(),
        probeSandboxes(config, { ...options, plugins: pluginSet }),
        inspectServices(configuration, ofRecords),
      ]);
    const plugins = pluginSet?.reports() ?? [];
    const { node } = process.versions;
    const folders = { workspace, servers, skills };
    const parts = { search, packages, sandboxes, plugins, services };
    return { node, configuration, ...folders, catalog, upstream, ...parts };
  };
  try {
    return await logged(log, "examining this host", inspect);
  } finally {
    await mcpTools.close();
  }
}

/** State of a configured folder on this host. */
export type FolderReport = Awaited<ReturnType<typeof inspectFolder>>;

/** Checks whether a folder exists and is writable, or else the folder that it would be created in. */
async function inspectFolder(folder: string) {
  const found = await stat(folder).catch(() => undefined);
  if (found === undefined)
    return { path: folder, exists: false, writable: await isWritable(await nearestExisting(folder)) };
  const exists = found.isDirectory();
  return { path: folder, exists, writable: exists && (await isWritable(folder)) };
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

const OTHERS = 0o077;

/** Protection of the host, of the user's secrets and of sessions: sandboxes, trust, file modes, image pins. */
export type SecurityReport = Awaited<ReturnType<typeof inspectSecurity>>;

/** Inspects what protects the host. Connects to nothing and imports nothing. */
export async function inspectSecurity(source: ServerSource = {}) {
  const { signal } = source;
  const configuration = await loadConfig(source);
  const { config, origins } = configuration;
  const { SETTINGS } = await import("@cem/config");
  // Each with its location: `llm.api_key`, `config.yaml:5`.
  const secretsInFiles = SETTINGS.filter(
    ({ secret, path: setting }) => secret && setting !== "mcp_servers",
  ).flatMap(({ path: setting }) => {
    const origin = origins[setting];
    return origin?.from === "file" ? [{ setting, origin: origin.label }] : [];
  });
  const ofServers = origins["mcp_servers"];
  for (const server of ofServers?.from === "file" ? config.mcpServers : []) {
    for (const name of await secretsIn({ ...server }))
      secretsInFiles.push({ setting: `mcp_servers.${server.name}.${name}`, origin: ofServers?.label ?? "" });
  }
  const [sandboxes, trust, places] = await Promise.all([
    probeSandboxes(config, { signal }),
    inspectTrust(source),
    inspectPlaces(configuration, secretsInFiles.length > 0),
  ]);
  return {
    configuration,
    sandboxes,
    trust,
    places,
    secretsInFiles,
    unpinnedImages: config.mcpServers.flatMap((server) => {
      const image = server.connectionType === "stdio" ? unpinnedImage({ ...server }) : undefined;
      return image === undefined ? [] : [{ server: server.name, image }];
    }),
    isRoot: process.getuid?.() === 0,
  };
}

/** Inspects the files and folders that may hold private data. Empty if the system has no file modes. */
async function inspectPlaces({ config, file, folder }: LoadedConfig, holdsSecret: boolean) {
  if (process.platform === "win32") return [];
  const { trustFile } = await import("@cem/config");
  const { workspaceDir } = config.execution;
  const wanted = [
    holdsSecret || config.mcpServers.some(givesValues) ? file : undefined,
    path.join(folder, ".env"),
    trustFile(process.env),
    await authFolder(folder),
    path.join(workspaceDir, "results"),
    config.logging.file,
  ];
  const found = wanted.filter((place) => place !== undefined).map(inspectPlace);
  return (await Promise.all(found)).filter((place) => place !== undefined);
}

/** Whether environment variables or headers, which often hold secrets, have literal values. */
function givesValues(server: McpServerSetting): boolean {
  return Object.keys(server.connectionType === "stdio" ? server.env : server.headers).length > 0;
}

async function inspectPlace(place: string) {
  const found = await stat(place).catch(() => undefined);
  if (found === undefined) return undefined;
  const mode = found.mode & 0o777;
  return { path: place, mode: `0${mode.toString(8)}`, isOpen: (mode & OTHERS) !== 0 };
}
