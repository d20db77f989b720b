import { CemError, findTool, fromErrorInfo, printCall, printImport, printLiteral } from "@cem/core";
import type { CatalogSnapshot, JsonValue, ToolCall, ToolDefinition } from "@cem/core";

/** Other names of tools, from `tool_mappings`. */
export type ToolNames = ReadonlyMap<string, { server: string; tool: string }>;

export interface WantedTool {
  /** Absent when the name alone is enough: `server.tool`, a name of `tool_mappings`, or one that only one server has. */
  server?: string | undefined;
  tool: string;
}

/** Finds the tool that a step names. @throws CemError `SERVER_NOT_FOUND`, `TOOL_NOT_FOUND`, or why it can't be called. */
export function findStepTool(wanted: WantedTool, catalog: CatalogSnapshot, names: ToolNames): ToolDefinition {
  const { servers } = catalog;
  const { server: serverName, tool: name } = resolveName(wanted, names);
  if (serverName === undefined) {
    const found = servers.flatMap(({ tools }) => tools.filter((tool) => isCalled(tool, name)));
    const [only, another] = found;
    if (only !== undefined && another === undefined) return callable(only);
    const of = found.map(({ server }) => server).join(", ");
    const why =
      only === undefined
        ? `No server has a tool "${name}".`
        : `Several servers have a tool "${name}": ${of}.`;
    throw new CemError("TOOL_NOT_FOUND", `${why} Say which server's tool it is.`, {
      details: { tool: name },
    });
  }
  return callable(findTool({ server: serverName, tool: name }, catalog));
}

/** The server and the tool that a step means, as far as the names determine them. */
function resolveName({ server, tool }: WantedTool, names: ToolNames): WantedTool {
  if (server !== undefined) return { server, tool };
  const mapped = names.get(tool);
  if (mapped !== undefined) return mapped;
  const dot = tool.indexOf(".");
  return dot > 0 ? { server: tool.slice(0, dot), tool: tool.slice(dot + 1) } : { tool };
}

function isCalled({ name, originalName }: ToolDefinition, wanted: string): boolean {
  return name === wanted || originalName === wanted;
}

function callable(tool: ToolDefinition): ToolDefinition {
  const { unavailable } = tool;
  if (unavailable === undefined) return tool;
  throw fromErrorInfo(unavailable);
}

export function callProgram(tool: ToolDefinition, args: ToolCall["args"]): string {
  return `${printImport(tool)}\nexport default ${printCall(tool, args)};\n`;
}

/** Creates the program of a step. Line numbers stay the same. */
export function codeProgram(code: string, inputs: JsonValue): string {
  return `const inputs: any = ${printLiteral(inputs)}; ${code}`;
}
