import { realpath } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { isHostTool } from "@cem/bridge";
import type { HostTool } from "@cem/bridge";
import { defineTool } from "@cem/bridge/define-tool";
import { CemError, toErrorInfo } from "@cem/core";
import type { ErrorInfo, ToolProblem } from "@cem/core";
import { isWithin, resolveOwnPackage } from "@cem/core/files";
import type { OwnPackage } from "@cem/core/files";
import { listFolder } from "../files/server-entries.ts";

/** Where files of host tools stand, and which of them may run on the host. */
export interface HostToolFolders {
  /** The folder that holds `<server>/<tool>.host.ts`. Absolute. */
  serversDir: string;
  /** Folders that guest code can write to. A file in one of them is never run. Absolute. */
  writableDirs: readonly string[];
  /**
   * Why a file may not be imported.
   *
   * @defaultValue each may be
   */
  obstacleOf?: ((tool: string, file: string) => Promise<CemError | undefined>) | undefined;
  /** The package that such files may import where nothing is installed beside them. */
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
  /** The tool's name: the file's, without its ending. */
  name: string;
  /** Absolute path. */
  file: string;
}

/** Finds `servers/<server>/<tool>.host.ts`. Links are skipped. */
export async function findHostToolFiles(serversDir: string): Promise<HostToolFile[]> {
  const folders = (await listFolder(serversDir)).filter(
    (entry) => entry.isDirectory() && !/^[._]/.test(entry.name),
  );
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
 * Imports a file of the user's on the host and takes the tool it exports. A file that guest code can write is never
 * imported. A file that can't be used is reported as a problem, not thrown.
 */
async function loadHostToolFile(
  { server, name, file }: HostToolFile,
  { writableDirs, ownPackage }: Pick<HostToolFolders, "writableDirs" | "ownPackage">,
): Promise<{ tool: HostTool } | { problem: ToolProblem }> {
  const problem = (message: string): { problem: ToolProblem } => ({
    problem: { server, file, message: `${path.basename(file)} ${message}` },
  });
  try {
    const real = await realpath(file);
    const writable = await findWritable(real, writableDirs);
    if (writable !== undefined) {
      return problem(
        `is not run on the host: code in the sandbox can write to ${writable}. Move the servers out of there.`,
      );
    }
    if (ownPackage !== undefined) resolveOwnPackage(ownPackage, HOST_TOOL_FILES);
    const module = await importWithin(real);
    const tool = [module["default"], module[name]].find(isHostTool);
    if (tool !== undefined) return { tool };
    return problem(`exports no tool. Write: export default defineTool({ description, input, execute })`);
  } catch (error) {
    return problem(`can't be loaded: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** The folder among those given that the file lies in. */
async function findWritable(file: string, folders: readonly string[]): Promise<string | undefined> {
  for (const folder of folders) {
    if (isWithin(await realpath(folder).catch(() => folder), file)) return folder;
  }
  return undefined;
}

/** Imports a module; fails when it does not finish loading in time. */
async function importWithin(file: string): Promise<Record<string, unknown>> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    const message = `it was not ready within ${LOAD_TIMEOUT_MS / 1000} s`;
    timer = setTimeout(() => reject(new Error(message)), LOAD_TIMEOUT_MS);
  });
  try {
    return (await Promise.race([import(pathToFileURL(file).href), late])) as Record<string, unknown>;
  } finally {
    clearTimeout(timer);
  }
}

/** Host tools by server and name. */
export type HostToolsByServer = Readonly<Record<string, Readonly<Record<string, HostTool>>>>;

/** The host tools there are, from code and from files. */
export interface LoadedHostTools {
  tools: HostToolsByServer;
  /** The file a tool was read from, by `server.name`. */
  files: ReadonlyMap<string, string>;
  /** Files that can't be used as tools. */
  problems: readonly ToolProblem[];
  /** Why tools that are listed can't be called, by `server.name`. Their files were not imported. */
  held: ReadonlyMap<string, ErrorInfo>;
  /** Guest paths of all files of host tools. */
  hidden: readonly string[];
}

/**
 * Gathers the host tools given in code and those in `servers/<server>/<tool>.host.ts`. Those given in code win.
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
    const fault = await toolNameFault(server, name);
    if (fault !== undefined) {
      problems.push({ server, file, message: `The tool ${server}.${name} ${fault}` });
      continue;
    }
    if (tools[server]?.[name] !== undefined) continue;
    const obstacle = await folders.obstacleOf?.(`${server}.${name}`, file);
    if (obstacle !== undefined) {
      held.set(`${server}.${name}`, toErrorInfo(obstacle));
      (tools[server] ??= {})[name] = heldBack(obstacle);
      files.set(`${server}.${name}`, file);
      continue;
    }
    const loaded = await loadHostToolFile(one, folders);
    if ("problem" in loaded) {
      problems.push(loaded.problem);
      continue;
    }
    (tools[server] ??= {})[name] = loaded.tool;
    files.set(`${server}.${name}`, file);
  }
  const hidden = found.map(
    ({ server, file }) => `/workspace/servers/${server}/${file.split(/[\\/]/).at(-1)}`,
  );
  return { tools, files, problems, held, hidden };
}

/** Stands for a tool whose file is not imported. */
function heldBack(obstacle: CemError): HostTool {
  return defineTool({
    description: "Held back: what it does is known once its folder is trusted.",
    input: { type: "object" },
    execute: () => {
      throw obstacle;
    },
  });
}

/** Without a prototype, so that no server's name is one of `Object`'s. */
async function copyChecked(given: HostToolsByServer): Promise<Record<string, Record<string, HostTool>>> {
  const tools = Object.create(null) as Record<string, Record<string, HostTool>>;
  for (const [server, own] of Object.entries(given)) {
    for (const [name, tool] of Object.entries(own)) {
      const fault = await toolNameFault(server, name);
      if (fault !== undefined) {
        throw new CemError("TOOL_INVALID", `The tool ${server}.${name} ${fault}`, {
          details: { server, tool: name },
        });
      }
      (tools[server] ??= {})[name] = tool;
    }
  }
  return tools;
}

const SERVER_NAME = /^[\p{L}\p{N}][\p{L}\p{N}_.@-]*$/u;

/** Why a tool can't have a name. `undefined` where it can. */
export async function toolNameFault(server: string, name: string): Promise<string | undefined> {
  if (!SERVER_NAME.test(server))
    return "has a server's name that can't stand in an import. Use letters, digits, _, - and .";
  const { nameTools } = await import("@cem/tool-files");
  const [usable] = nameTools([name]).values();
  if (usable?.identifier === name) return undefined;
  return `has a name that can't be a function's. Call it ${usable?.identifier ?? "something else"}.`;
}
