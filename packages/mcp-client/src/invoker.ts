import {
  answerErrors,
  checkCalls,
  compose,
  createResultCheck,
  fitValue,
  followSentCalls,
  keepOnce,
  orderCalls,
} from "@cem/bridge";
import type {
  CallCheckSettings,
  KnownTool,
  ResultCheckSettings,
  ResultKeeping,
  ToolSource,
} from "@cem/bridge";
import { CemError, toolNotFound } from "@cem/core";
import type { JsonObject, ToolCall, ToolInvoker } from "@cem/core";
import { nearest } from "@cem/core/text";
import { inputOfRequest, isServerRequest } from "./connection/server-request-definitions.ts";
import type { McpConnections } from "./connections.ts";
import { mapToolResult } from "./results/result-mapping.ts";
import { answerServerRequest } from "./server-requests.ts";

/** Settings of {@link createMcpToolSource}. */
export interface McpToolSourceSettings extends ResultKeeping, ResultCheckSettings {
  /**
   * Finds a tool by the name code calls it by. Return the same object for the same definition, so that its schemas are
   * compiled once. Default: finds it in the server's list.
   */
  findTool?:
    | ((server: string, tool: string) => KnownTool | undefined | Promise<KnownTool | undefined>)
    | undefined;
}

/** Settings of {@link createMcpInvoker}. */
export interface McpInvokerSettings extends McpToolSourceSettings, CallCheckSettings {}

/**
 * Creates an invoker that checks each call against the tool's schema, calls the tool on its server and checks the
 * result. It never throws: a failure is a result with an error.
 */
export function createMcpInvoker(
  connections: McpConnections,
  settings: McpInvokerSettings = {},
): ToolInvoker {
  const tools = createMcpToolSource(connections, settings);
  return compose([answerErrors, checkCalls(tools, settings), orderCalls(), followSentCalls], tools);
}

/** Creates a source of the tools of MCP servers, for a bridge that checks calls itself. It checks their results. */
export function createMcpToolSource(
  connections: McpConnections,
  settings: McpToolSourceSettings = {},
): ToolSource {
  const findTool = settings.findTool ?? findListed(connections);
  const { store, maxInlineBytes } = settings;
  const keeping = { store, maxInlineBytes };
  const checkResult = createResultCheck(settings);

  const find = async (call: ToolCall, signal: AbortSignal): Promise<KnownTool> => {
    const { server, tool } = call;
    if (isServerRequest(tool)) return { name: tool, inputSchema: inputOfRequest(tool) };
    return (await findTool(server, tool)) ?? Promise.reject(await notFound(connections, call, signal));
  };

  return {
    specificationVersion: "v1",
    find,
    async invoke(call, options) {
      const { server, tool } = call;
      const args = call.args as JsonObject;
      if (isServerRequest(tool)) {
        const once = keepOnce(keeping);
        const value = await answerServerRequest(connections, { server, tool, args }, options, once);
        const name = tool.split("/").at(-1) ?? tool;
        return { ok: true, value: await fitValue({ server, name }, value, once) };
      }
      const { name, outputSchema } = call.found ?? (await find(call, options.signal));
      const raw = await connections.callTool(server, name, args, options);
      return mapToolResult({ server, tool, outputSchema }, raw, { ...keeping, checkResult });
    },
  };
}

function findListed(connections: McpConnections): NonNullable<McpToolSourceSettings["findTool"]> {
  return async (server, tool) => (await connections.listTools(server)).byName.get(tool);
}

/** The `TOOL_NOT_FOUND` for a tool, or what the connection throws for a server that does not exist or is down. */
async function notFound(
  connections: McpConnections,
  { server, tool }: ToolCall,
  signal: AbortSignal,
): Promise<CemError> {
  const list = connections.knownTools(server) ?? (await connections.listTools(server, { signal }));
  const leftOut = list.leftOut.find(({ name }) => name === tool);
  if (leftOut !== undefined) {
    const { reason } = leftOut;
    return new CemError("TOOL_NOT_FOUND", `Server "${server}" has no usable tool "${tool}": ${reason}.`, {
      details: { server, tool, reason },
    });
  }
  const known = list.tools.map(({ name }) => name);
  // A `findTool` of the caller's own may leave out tools that the server has.
  if (known.includes(tool)) return toolNotFound({ server, tool });
  return toolNotFound({ server, tool }, { known, nearest: nearest(tool, known)[0] });
}
