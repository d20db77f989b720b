import type { Dirent } from "node:fs";
import { readdir, realpath } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { isHostTool } from "@cem/bridge";
import type { HostTool } from "@cem/bridge";
import type { ToolProblem } from "@cem/core";
import { resolveOwnPackage } from "@cem/core/files";
import type { HostToolFolders } from "./host-tool-folders.ts";

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
  const folders = (await list(serversDir)).filter(
    (entry) => entry.isDirectory() && !/^[._]/.test(entry.name),
  );
  const found = folders.map(async ({ name: server }) => {
    const folder = path.join(serversDir, server);
    return (await list(folder)).flatMap((entry): HostToolFile[] => {
      const name = HOST_FILE.exec(entry.name)?.groups?.["name"];
      return name === undefined || !entry.isFile()
        ? []
        : [{ server, name, file: path.join(folder, entry.name) }];
    });
  });
  return (await Promise.all(found)).flat();
}

/** Sorted, so that a catalog is the same on every file system. A folder that can't be listed is empty. */
async function list(folder: string): Promise<Dirent[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((): Dirent[] => []);
  return entries.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/**
 * Imports a file of the user's on the host and takes the tool it exports. A file that guest code can write is never
 * imported. A file that can't be used is reported as a problem, not thrown.
 */
export async function loadHostToolFile(
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
    const real = await realpath(folder).catch(() => folder);
    const way = path.relative(real, file);
    if (!way.startsWith("..") && !path.isAbsolute(way)) return folder;
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
