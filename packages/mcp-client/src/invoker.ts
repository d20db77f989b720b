import { createResultCheck, fitValue, keepOnce } from "@cem/bridge";
import type { KnownTool, ResultCheckSettings, ResultKeeping, ToolSource } from "@cem/bridge";
import { CemError, toolNotFound, type JsonObject, type ToolCall, type JsonValue } from "@cem/core";
import * as z from "zod";
import type { CallOptions } from "./connection/connection-types.ts";
import { inputOfRequest, isServerRequest, SERVER_REQUESTS } from "./connection/server-request-definitions.ts";
import type { McpConnections } from "./connections.ts";
import { mapPart, mapResource, type PartContext } from "./results/content-parts.ts";
import { mapLargeAnswer } from "./results/large-answers.ts";
import { mapToolResult } from "./results/result-mapping.ts";
import { withDoubt } from "./transport/call-failures.ts";

/** Settings of {@link createMcpToolSource}. */
export interface McpToolSourceSettings extends ResultKeeping, ResultCheckSettings {
  /**
   * Finds a tool by its name in code. Return the same object for the same definition, so that its schemas are
   * compiled once. Default: finds it in the server's list.
   */
  findTool?:
    | ((server: string, tool: string) => KnownTool | undefined | Promise<KnownTool | undefined>)
    | undefined;
}

/**
 * Creates a source of the tools of MCP servers, which checks their results. Calls are checked by the middlewares of
 * `@cem/bridge` that are composed with it.
 */
export function createMcpToolSource(
  connections: McpConnections,
  settings: McpToolSourceSettings = {},
): ToolSource {
  const findTool =
    settings.findTool ?? (async (server, tool) => (await connections.listTools(server)).byName.get(tool));
  const { store, maxInlineBytes } = settings;
  const keeping = { store, maxInlineBytes };
  const checkResult = createResultCheck(settings);

  const find = (call: ToolCall, signal: AbortSignal): KnownTool | Promise<KnownTool> => {
    const { server, tool } = call;
    if (isServerRequest(tool)) return { name: tool, inputSchema: inputOfRequest(tool) };
    const orNotFound = async (known: KnownTool | undefined): Promise<KnownTool> =>
      known ?? Promise.reject(await notFound(connections, call, signal));
    const found = findTool(server, tool);
    return found instanceof Promise ? found.then(orNotFound) : (found ?? orNotFound(found));
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
      const origin = { server, tool, outputSchema };
      if (raw.unread !== undefined) return mapLargeAnswer(origin, raw.unread, keeping, options.signal);
      try {
        return await mapToolResult(origin, raw, { ...keeping, checkResult });
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
        const message = `Server "${server}" answered with a result that is nested too deeply.`;
        throw withDoubt(new CemError("PROTOCOL_ERROR", message, { details: { server, tool } }), error);
      }
    },
  };
}

/** The `TOOL_NOT_FOUND` for a tool, or the connection's error for a server that does not exist or is down. */
async function notFound(connections: McpConnections, { server, tool }: ToolCall, signal: AbortSignal) {
  const list = connections.knownTools(server) ?? (await connections.listTools(server, { signal }));
  const leftOut = list.leftOut.find(({ name }) => name === tool);
  if (leftOut !== undefined) {
    const { reason } = leftOut;
    const message = `Server "${server}" has no usable tool "${tool}": ${reason}.`;
    return new CemError("TOOL_NOT_FOUND", message, { details: { server, tool, reason } });
  }
  const known = list.tools.map(({ name }) => name);
  // A custom `findTool` may hide tools that the server has.
  return toolNotFound({ server, tool }, known.includes(tool) ? undefined : known);
}

const contentsSchema = z.looseObject({ contents: z.array(z.unknown()) });
const promptSchema = z.looseObject({
  description: z.string().optional(),
  messages: z.array(z.looseObject({ role: z.string(), content: z.unknown() })),
});

/**
 * Executes a call to one of the {@link SERVER_REQUESTS}, whose arguments were checked.
 *
 * @throws CemError `TOOL_NOT_FOUND` or what the connection throws.
 */
async function answerServerRequest(
  connections: McpConnections,
  call: { server: string; tool: string; args: JsonObject },
  options: CallOptions,
  context: Omit<PartContext, "name">,
): Promise<JsonValue> {
  const { server, tool, args } = call;
  const list = async (kind: Parameters<McpConnections["list"]>[1]): Promise<JsonValue> => {
    const { items, cut } = await connections.list(server, kind, options);
    return { [kind]: items, ...(cut !== undefined && { cut }) };
  };
  switch (tool) {
    case SERVER_REQUESTS.listResources:
      return list("resources");
    case SERVER_REQUESTS.listResourceTemplates:
      return list("resourceTemplates");
    case SERVER_REQUESTS.listPrompts:
      return list("prompts");
    case SERVER_REQUESTS.readResource: {
      const params = args as { uri: string };
      const result = await connections.request(server, { method: "resources/read", params }, options);
      const { contents } = checkAnswer(contentsSchema, result, call);
      const named = { ...context, name: "resource" };
      return { contents: await Promise.all(contents.map((part) => mapResource(part, named))) };
    }
    case SERVER_REQUESTS.getPrompt: {
      const params = args as { name: string; arguments?: Record<string, string> };
      const { name } = params;
      const result = await connections.request(server, { method: "prompts/get", params }, options);
      const { description, messages } = checkAnswer(promptSchema, result, call);
      const mapped = messages.map(async ({ role, content }) => ({
        role,
        content: await mapPart(content as JsonValue, { ...context, name }),
      }));
      return { ...(description !== undefined && { description }), messages: await Promise.all(mapped) };
    }
    default:
      throw toolNotFound({ server, tool }, Object.values(SERVER_REQUESTS));
  }
}

function checkAnswer<T>(schema: z.ZodType<T>, answer: JsonObject, call: { server: string; tool: string }): T {
  const result = schema.safeParse(answer);
  if (result.success) return result.data;
  const message = `Server "${call.server}" sent an invalid result for ${call.tool}.`;
  throw new CemError("PROTOCOL_ERROR", message, { details: { server: call.server, tool: call.tool } });
}
