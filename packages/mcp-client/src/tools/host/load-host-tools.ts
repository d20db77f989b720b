import { realpath } from "node:fs/promises";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { isHostTool, type HostTool } from "@cem/bridge";
import { defineTool } from "@cem/bridge/define-tool";
import { CemError, toErrorInfo, whyNotLoaded, type ErrorInfo, type ToolProblem } from "@cem/core";
import { isWithin, resolveOwnPackage, type OwnPackage } from "@cem/core/files";
import { listFolder } from "../files/server-entries.ts";

/** The location of host tool files, and which of them may run on the host. */
export interface HostToolFolders {
  /** The folder that holds `<server>/<tool>.host.ts`. Absolute. */
  serversDir: string;
  /** Folders that guest code can write to. Files in them are never run. Absolute. */
  writableDirs: readonly string[];
  /**
   * Why a file may not be imported.
   *
   * @defaultValue all may be
   */
  obstacleOf?: ((tool: string, file: string) => Promise<CemError | undefined>) | undefined;
  /** The package that such files can import even if it is not installed next to them. */
  ownPackage?: OwnPackage | undefined;
}

const HOST_FILE = /^(?<name>[^._].*)\.host\.m?[jt]s$/;
const HOST_TOOL_FILES = {
  kind: "host tool",
  isImporter: (url: string): boolean => /\.host\.m?[jt]s$/.test(url),
};
const LOAD_TIMEOUT_MS = 30_000;

export interface HostToolFile {
  server: string;
  /** The tool's name: the file name without its extension. */
  name: string;
  /** Absolute path. */
  file: string;
}

/** Finds `servers/<server>/<tool>.host.ts`. Links are skipped. */
export async function findHostToolFiles(serversDir: string): Promise<HostToolFile[]> {
  const entries = await listFolder(serversDir);
  const folders = entries.filter((entry) => entry.isDirectory() && !/^[._]/.test(entry.name));
  const found = folders.map(async ({ name: server }) => {
    const folder = path.join(serversDir, server);
    return (await listFolder(folder)).flatMap((entry): HostToolFile[] => {
      const name = HOST_FILE.exec(entry.name)?.groups?.["name"];
      return name === undefined || !entry.isFile()
        ? []
        : [{ server, name, file: path.join(folder, entry.name) }];
    });
  });
  return (await Promise.all(found)).flat();
}

/**
 * Imports a user's file on the host and returns the tool it exports. A file that guest code can write is never imported.
 *
 * @returns the problem of an unusable file.
 */
async function importTool(
  { name, file }: HostToolFile,
  { writableDirs, ownPackage }: HostToolFolders,
): Promise<HostTool | string> {
  const loaded = new AbortController();
  try {
    const real = await realpath(file);
    for (const folder of writableDirs)
      if (isWithin(await realpath(folder).catch(() => folder), real))
        return `is not run on the host: code in the sandbox can write to ${folder}. Move the servers out of there.`;
    if (ownPackage !== undefined) resolveOwnPackage(ownPackage, HOST_TOOL_FILES);
    const late = wait(LOAD_TIMEOUT_MS, undefined, { signal: loaded.signal }).then(() => {
      throw new Error(`it was not ready within ${LOAD_TIMEOUT_MS / 1000} s`);
    });
    const module = (await Promise.race([import(pathToFileURL(real).href), late])) as Record<string, unknown>;
    const tool = [module["default"], module[name]].find(isHostTool);
    return tool ?? "exports no tool. Write: export default defineTool({ description, input, execute })";
  } catch (error) {
    return `can't be loaded: ${whyNotLoaded(error)}`;
  } finally {
    loaded.abort();
  }
}

/** Host tools by server and name. */
export type HostToolsByServer = Readonly<Record<string, Readonly<Record<string, HostTool>>>>;

/** All host tools, from code and from files. */
export interface LoadedHostTools {
  tools: HostToolsByServer;
  /** The file a tool was read from, by `server.name`. */
  files: ReadonlyMap<string, string>;
  /** Files that can't be used as tools. */
  problems: readonly ToolProblem[];
  /** Why listed tools are held back, by `server.name`. Their files were not imported. */
  held: ReadonlyMap<string, ErrorInfo>;
  /** Guest paths of all files of host tools. */
  hidden: readonly string[];
}

/**
 * Collects the host tools given in code and those in `servers/<server>/<tool>.host.ts`. Tools given in code take precedence.
 *
 * @throws CemError `TOOL_INVALID` for a name, given in code, that can't be imported.
 */
export async function loadHostTools(
  folders: HostToolFolders,
  given: HostToolsByServer = {},
): Promise<LoadedHostTools> {
  const tools = await copyChecked(given);
  const files = new Map<string, string>();
  const problems: ToolProblem[] = [];
  const held = new Map<string, ErrorInfo>();
  const found = await findHostToolFiles(folders.serversDir);
  for (const one of found) {
    const { server, name, file } = one;
    const id = `${server}.${name}`;
    const fault = await toolNameFault(server, name);
    if (fault !== undefined) {
      problems.push({ server, file, message: `The tool ${id} ${fault}` });
      continue;
    }
    if (tools[server]?.[name] !== undefined) continue;
    const obstacle = await folders.obstacleOf?.(id, file);
    if (obstacle !== undefined) held.set(id, toErrorInfo(obstacle));
    const tool = obstacle === undefined ? await importTool(one, folders) : heldBack(obstacle);
    if (typeof tool === "string") {
      problems.push({ server, file, message: `${path.basename(file)} ${tool}` });
      continue;
    }
    (tools[server] ??= {})[name] = tool;
    files.set(id, file);
  }
  const hidden = found.map(({ server, file }) => `/workspace/servers/${server}/${path.basename(file)}`);
  return { tools, files, problems, held, hidden };
}

/** A placeholder for a tool whose file is not imported. */
function heldBack(obstacle: CemError): HostTool {
  return defineTool({
    description: "Held back: what it does is known once its folder is trusted.",
    input: { type: "object" },
    execute: () => {
      throw obstacle;
    },
  });
}

/** Without a prototype, so that no server name collides with a member of `Object`. */
async function copyChecked(given: HostToolsByServer): Promise<Record<string, Record<string, HostTool>>> {
  const tools = Object.create(null) as Record<string, Record<string, HostTool>>;
  for (const [server, own] of Object.entries(given)) {
    for (const [name, tool] of Object.entries(own)) {
      const fault = await toolNameFault(server, name);
      if (fault !== undefined) {
        const message = `The tool ${server}.${name} ${fault}`;
        throw new CemError("TOOL_INVALID", message, { details: { server, tool: name } });
      }
      (tools[server] ??= {})[name] = tool;
    }
  }
  return tools;
}

const SERVER_NAME = /^[\p{L}\p{N}][\p{L}\p{N}_.@-]*$/u;

/** Why a tool can't have a name. `undefined` if it can. */
export async function toolNameFault(server: string, name: string): Promise<string | undefined> {
  if (!SERVER_NAME.test(server))
    return "has a server's name that can't stand in an import. Use letters, digits, _, - and .";
  const { nameTools } = await import("@cem/tool-files");
  const [usable] = nameTools([name]).values();
  if (usable?.identifier === name) return undefined;
  return `has a name that can't be a function's. Call it ${usable?.identifier ?? "something else"}.`;
}
