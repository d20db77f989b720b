import { mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { addServer, loadConfig, removeServer } from "@cem/config";
import type { Config, ServerEntry } from "@cem/config";
import { CemError } from "@cem/core";
import type { CatalogSnapshot } from "@cem/core";
import type { AgentOptions, ConfigSource } from "./agent-options.ts";
import { createCatalog } from "./create-agent.ts";
import { withHostToolFiles } from "./hosted.ts";
import { loadFrom } from "./load.ts";
import type { Upstream } from "./upstream/create-upstream.ts";
import { examineServers } from "./upstream/examine.ts";
import type { ExaminedServer } from "./upstream/examine.ts";
import { generateServers } from "./upstream/generate.ts";
import type { GeneratedServer, GenerateOptions } from "./upstream/generate.ts";
import { openUpstream } from "./upstream/open-upstream.ts";

/** Where the configuration comes from, and where its log goes. */
export type ServerSource = ConfigSource & Pick<AgentOptions, "onLog"> & { signal?: AbortSignal | undefined };

/** Starting a server for the first time may mean downloading it. */
const FIRST_START_MS = 180_000;

async function withUpstream<T>(
  source: ServerSource,
  work: (upstream: Upstream, config: Config) => Promise<T>,
  options: { minConnectTimeoutMs?: number | undefined } = {},
): Promise<T> {
  const loaded = await loadFrom(source);
  const upstream = openUpstream(loaded, { onLog: source.onLog, ...options });
  try {
    return await work(upstream, loaded.config);
  } finally {
    await upstream.close();
  }
}

/**
 * Writes the files of MCP servers' tools. With `isFirstStart` servers have time to be downloaded.
 *
 * @throws CemError `SERVER_NOT_FOUND` for a name that is not configured, `CONFIG_INVALID`.
 */
export function generateTools(
  source: ServerSource & GenerateOptions & { isFirstStart?: boolean | undefined } = {},
): Promise<GeneratedServer[]> {
  const options = source.isFirstStart === true ? { minConnectTimeoutMs: FIRST_START_MS } : {};
  return withUpstream(source, (upstream) => generateServers(upstream, source), options);
}

/** Tries the configured MCP servers, and tells how each one stands. */
export function inspectServers(source: ServerSource = {}): Promise<ExaminedServer[]> {
  return withUpstream(source, (upstream) => examineServers(upstream, signalOf(source)));
}

/** Who lists tools does not want to wait long for a server that may be down, in milliseconds. */
const LIST_TIMEOUT_MS = 4_000;

/**
 * Lists every tool there is, as an agent of the same configuration finds it, and tries their MCP servers first, so that
 * tools say whether they can be called. A server that does not answer within 4 s is taken to be there.
 *
 * @param source with `only`, no other server is tried.
 */
export function listCatalog(
  source: ServerSource & { only?: string | undefined } = {},
): Promise<CatalogSnapshot> {
  const { only } = source;
  return withUpstream(source, async (upstream, config) => {
    if (only === undefined || upstream.servers.has(only)) {
      const one = only === undefined ? {} : { only };
      await examineServers(upstream, { ...signalOf(source), ...one, timeoutMs: LIST_TIMEOUT_MS });
    }
    const catalog = await withHostToolFiles(createCatalog(config, upstream), config);
    return catalog.list(signalOf(source));
  });
}

/**
 * Signs in to an MCP server through the browser and keeps the sign-in for later.
 *
 * @throws CemError `AUTH_FAILED`, `SERVER_NOT_FOUND`.
 */
export function signIn(
  server: string,
  options: ServerSource & { openBrowser: (url: string) => void | Promise<void> },
): Promise<void> {
  const { openBrowser } = options;
  return withUpstream(options, async (upstream) => {
    const live = await upstream.connections();
    const { error } = upstream.servers.get(server) ?? {};
    if (error !== undefined) throw error;
    await live.authorize(server, { openBrowser, ...signalOf(options) });
  });
}

/**
 * Adds MCP servers to the configuration file, which is made if it is not there. Comments in it stay.
 *
 * @returns the file.
 * @throws CemError `SERVER_EXISTS`, or `CONFIG_INVALID` for settings that are wrong; the file is as it was then.
 */
export async function addServers(
  servers: readonly { name: string; entry: ServerEntry }[],
  source: ServerSource = {},
): Promise<string> {
  const { file, text } = await readConfigText(source);
  const edited = servers.reduce((yaml, { name, entry }) => addServer(yaml, name, entry), text ?? "");
  await replaceFile(file, edited);
  try {
    await loadConfig({ cwd: source.cwd, file });
  } catch (error) {
    await (text === undefined ? rm(file) : replaceFile(file, text));
    throw error;
  }
  return file;
}

/** What became of a server that was removed. */
export interface RemovedServer {
  /** The configuration file, where the server was in it. */
  file?: string | undefined;
  /** Generated files that went with it, absolute. */
  removed: string[];
}

/**
 * Removes an MCP server from the configuration file, and the files that were generated for it.
 *
 * @throws CemError `SERVER_NOT_FOUND` where there is neither.
 */
export async function removeServerAndFiles(name: string, source: ServerSource = {}): Promise<RemovedServer> {
  const { directory, isGenerated, known } = await withUpstream(source, async (upstream) => {
    const folder = await upstream.folderOf(name);
    const found = await upstream.folders.read(folder).catch(() => undefined);
    return {
      directory: folder,
      isGenerated: found?.lock.server.name === name,
      known: [...upstream.servers.keys()],
    };
  });
  const { file, text } = await readConfigText(source);
  const edited = removeServer(text ?? "", name);
  if (edited === undefined && !isGenerated) {
    const there = known.length === 0 ? "None is configured." : `There are: ${known.join(", ")}.`;
    throw new CemError("SERVER_NOT_FOUND", `There is no MCP server "${name}". ${there}`, {
      details: { server: name, known },
    });
  }
  if (edited !== undefined) await replaceFile(file, edited);
  const removed = isGenerated ? await removeFiles(directory) : [];
  return { ...(edited === undefined ? {} : { file }), removed };
}

async function removeFiles(directory: string): Promise<string[]> {
  const { removeServerFiles } = await import("@cem/tool-files");
  const names = await removeServerFiles({
    serversDir: path.dirname(directory),
    folder: path.basename(directory),
  });
  return names.map((name) => path.join(directory, name));
}

/** The configuration file that holds, or where it would be. */
async function readConfigText(source: ServerSource): Promise<{ file: string; text?: string | undefined }> {
  const named = typeof source.configFile === "string" ? source.configFile : undefined;
  const cwd = path.resolve(source.cwd ?? ".");
  if (named !== undefined && (await stat(path.resolve(cwd, named)).catch(() => undefined)) === undefined) {
    return { file: path.resolve(cwd, named) };
  }
  const { file } = await loadFrom(source);
  if (file === undefined) return { file: path.join(cwd, "config.yaml") };
  return { file, text: await readFile(file, "utf8") };
}

/** Puts the new text in place as a whole, with the rights of the old file. */
async function replaceFile(file: string, text: string): Promise<void> {
  const mode = (await stat(file).catch(() => undefined))?.mode;
  await mkdir(path.dirname(file), { recursive: true });
  const temporary = `${file}.${process.pid}.tmp`;
  try {
    await writeFile(temporary, text, mode === undefined ? {} : { mode });
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

function signalOf({ signal }: ServerSource): { signal?: AbortSignal | undefined } {
  return signal === undefined ? {} : { signal };
}
