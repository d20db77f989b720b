import { answerErrors, checkCalls, compose, fitValue } from "@cem/bridge";
import type { CallCheckSettings, KnownTool, ResultKeeping, ToolSource } from "@cem/bridge";
import { CemError } from "@cem/core";
import type { JsonObject, ToolCall, ToolInvoker } from "@cem/core";
import { nearest } from "@cem/text";
import type { McpConnections } from "./connections.ts";
import type { Progress } from "./connection-types.ts";
import { mapToolResult } from "./result-mapping.ts";
import { isServerRequest } from "./server-request-names.ts";
import { answerServerRequest } from "./server-requests.ts";

export interface McpToolsSettings extends ResultKeeping {
  /**
   * Finds a tool by the name code uses. Give the same object for the same definition, so that its schema is
   * compiled once. Default: the list of the server itself.
   */
  findTool?:
    | ((server: string, tool: string) => KnownTool | undefined | Promise<KnownTool | undefined>)
    | undefined;
  onProgress?: ((call: ToolCall, progress: Progress) => void) | undefined;
}

export interface McpInvokerSettings extends McpToolsSettings, CallCheckSettings {}

/** Calls tools of MCP servers for guest code, checking each call first. Never throws. */
export function createMcpInvoker(
  connections: McpConnections,
  settings: McpInvokerSettings = {},
): ToolInvoker {
  const tools = createMcpTools(connections, settings);
  return compose([answerErrors, checkCalls(tools, settings)], tools);
}

/** The tools of MCP servers for a bridge that checks calls itself. */
export function createMcpTools(connections: McpConnections, settings: McpToolsSettings = {}): ToolSource {
  const findTool = settings.findTool ?? findListed(connections);

  const find = async (call: ToolCall, signal: AbortSignal): Promise<KnownTool> => {
    const { server, tool } = call;
    if (isServerRequest(tool)) return { name: tool };
    return (await findTool(server, tool)) ?? Promise.reject(await unknownTool(connections, call, signal));
  };

  return {
    specificationVersion: "v1",
    find,
    async invoke(call, { signal, onWaiting, elicit, session }) {
      const { server, tool } = call;
      const options = {
        signal,
        onProgress: (progress: Progress) => settings.onProgress?.(call, progress),
        onWaiting,
        elicit,
        session,
      };
      const args = call.args as JsonObject;
      if (isServerRequest(tool)) {
        const value = await answerServerRequest(connections, { server, tool, args }, options, settings);
        const name = tool.split("/").at(-1) ?? tool;
        return { ok: true, value: await fitValue({ server, name }, value, settings) };
      }
      const { name } = call.found ?? (await find(call, signal));
      const raw = await connections.callTool(server, name, args, options);
      return mapToolResult({ server, name: tool }, raw, settings);
    },
  };
}

function findListed(connections: McpConnections): NonNullable<McpToolsSettings["findTool"]> {
  return async (server, tool) => {
    const { tools } = await connections.listTools(server);
    return tools.find(({ name }) => name === tool);
  };
}

async function unknownTool(
  connections: McpConnections,
  call: ToolCall,
  signal: AbortSignal,
): Promise<CemError> {
  const { server, tool } = call;
  // Throws for a server that does not exist, which says more.
  const list = connections.knownTools(server) ?? (await connections.listTools(server, { signal }));
  const leftOut = list.leftOut.find(({ name }) => name === tool);
  const [near] = nearest(
    tool,
    list.tools.map(({ name }) => name),
  );
  const hint =
    leftOut !== undefined
      ? `It is left out: ${leftOut.reason}.`
      : near === undefined || near === tool
        ? `\`cem tools ${server}\` lists what there is.`
        : `Did you mean "${near}"?`;
  return new CemError("TOOL_NOT_FOUND", `Server "${server}" has no tool "${tool}". ${hint}`, {
    details: { server, tool },
  });
}
