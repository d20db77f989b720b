import { CemError, toolNotFound } from "@cem/core";
import type { JsonObject, JsonValue } from "@cem/core";
import * as z from "zod";
import type { CallOptions } from "./connection/connection-types.ts";
import { SERVER_REQUESTS } from "./connection/server-request-definitions.ts";
import type { McpConnections } from "./connections.ts";
import { mapPart, mapResource } from "./results/content-parts.ts";
import type { PartContext } from "./results/content-parts.ts";

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
export async function answerServerRequest(
  connections: McpConnections,
  call: { server: string; tool: string; args: JsonObject },
  options: CallOptions,
  context: Omit<PartContext, "name">,
): Promise<JsonValue> {
  const { server, tool, args } = call;
  const list = async (kind: Parameters<McpConnections["list"]>[1]): Promise<JsonValue> => {
    const { items, cut } = await connections.list(server, kind, options);
    return cut === undefined ? { [kind]: items } : { [kind]: items, cut };
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
      const prompt: JsonObject = { messages: await Promise.all(mapped) };
      return description === undefined ? prompt : { description, ...prompt };
    }
    default:
      throw toolNotFound({ server, tool }, { known: Object.values(SERVER_REQUESTS) });
  }
}

function checkAnswer<T>(schema: z.ZodType<T>, answer: JsonObject, call: { server: string; tool: string }): T {
  const result = schema.safeParse(answer);
  if (result.success) return result.data;
  throw new CemError("PROTOCOL_ERROR", `Server "${call.server}" sent an invalid result for ${call.tool}.`, {
    details: { server: call.server, tool: call.tool },
  });
}
