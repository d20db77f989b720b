import type { HostTool } from "@cem/bridge";
import { CemError } from "@cem/core";
import { toErrorInfo } from "@cem/core";
import type { ErrorInfo, ToolProblem } from "@cem/core";
import { defineTool } from "@cem/bridge/define-tool";
import { findHostToolFiles, loadHostToolFile } from "./host-tool-files.ts";
import type { HostToolFolders } from "./host-tool-folders.ts";

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
