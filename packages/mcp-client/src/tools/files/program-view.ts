import { hash } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import path from "node:path";
import type { Mount, ToolDefinition } from "@cem/core";
import { createProcessFolder, removeProcessFolder } from "@cem/core/files";
import { printStub, type LocalTools } from "./hosted-servers.ts";
import type { ServerEntry } from "./server-entries.ts";

/** The path of the servers folder in the sandbox. */
const GUEST_SERVERS = "/workspace/servers";
const INDEX = "index.ts";

/** The view of a servers folder for code in the sandbox. */
export interface ProgramView {
  /** Cache key, equal for views with the same content. */
  key: string;
  /** The entries that are hidden. */
  hosted: ReadonlySet<string>;
  /** Stub files for hosted servers, by their path in the folder. */
  files: ReadonlyMap<string, string>;
  /** The other entries, which are unchanged. */
  shown: ReadonlyMap<string, ServerEntry>;
}

/** Plans a view in which tools of the hosted entries are replaced by stub modules. */
export async function planView(
  entries: ReadonlyMap<string, ServerEntry>,
  hosted: ReadonlySet<string>,
  { tools, serversDir }: { tools: LocalTools; serversDir: string },
): Promise<ProgramView> {
  const files = new Map<string, string>();
  for (const server of hosted) {
    const own = tools.get(server);
    // Entries that are not servers are left out.
    if (own === undefined) continue;
    for (const [file, text] of await stubsOf(own, path.join(serversDir, server)))
      files.set(`${server}/${file}`, text);
  }
  const shown = new Map([...entries].filter(([name]) => !hosted.has(name)));
  const content = [[...files], [...hosted], [...shown].map(([name, { isFolder }]) => [name, isFolder])];
  return { key: hash("sha256", JSON.stringify(content), "base64url"), hosted, files, shown };
}

/** The stub modules of a server: one for each tool, an index, and one at each path from which the tools could be imported. */
async function stubsOf(tools: readonly ToolDefinition[], folder: string): Promise<Map<string, string>> {
  const stubs = await Promise.all(
    tools.map(async (tool) => [`${tool.name}.ts`, await printStub(tool)] as const),
  );
  const files = new Map<string, string>(stubs);
  const reExport = (from: string, exported: readonly ToolDefinition[]): void => {
    const up = "../".repeat(from.split("/").length - 1) || "./";
    const lines = exported.map(
      ({ name }) => `export { ${name} } from ${JSON.stringify(`${up}${name}.ts`)};\n`,
    );
    if (!files.has(from)) files.set(from, lines.join(""));
  };
  for (const place of [modulePath, (tool: ToolDefinition) => filePath(tool, folder)]) {
    for (const [from, exported] of Map.groupBy(tools, place))
      if (from !== undefined) reExport(from, exported);
  }
  reExport(INDEX, tools);
  return files;
}

/** The path in its server's folder of the module that a tool is imported from. */
function modulePath({ module }: ToolDefinition): string | undefined {
  return inside(module.split("/").slice(3));
}

/** The path in its server's folder of the file that defines a tool. */
function filePath({ file }: ToolDefinition, folder: string): string | undefined {
  return file === undefined ? undefined : inside(path.relative(folder, file).split(path.sep));
}

function inside(parts: readonly string[]): string | undefined {
  return parts.length === 0 || parts.includes("..") || path.isAbsolute(parts.join("/"))
    ? undefined
    : parts.join("/");
}

/** Writes the files of a view into a new folder below another. */
export async function writeView({ files, shown }: ProgramView, below: string): Promise<string> {
  const folder = createProcessFolder(below, `cem-servers.${hostname()}`);
  try {
    // Mounts need a mount point, which also makes them appear in directory listings.
    for (const [name, { isFolder }] of shown)
      await (isFolder ? mkdir(path.join(folder, name)) : writeFile(path.join(folder, name), ""));
    for (const [name, text] of files) {
      const file = path.join(folder, name);
      await mkdir(path.dirname(file), { recursive: true });
      await writeFile(file, text);
    }
    return folder;
  } catch (error) {
    removeProcessFolder(folder);
    throw error;
  }
}

export function mountsOf({ shown }: ProgramView, folder: string, serversDir: string): Mount[] {
  const own = [...shown.keys()].map((name) => ({
    hostPath: path.join(serversDir, name),
    guestPath: `${GUEST_SERVERS}/${name}`,
    readOnly: true,
  }));
  return [{ hostPath: folder, guestPath: GUEST_SERVERS, readOnly: true }, ...own];
}
