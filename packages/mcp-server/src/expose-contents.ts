import { CemError } from "@cem/core";
import type { JsonObject, JsonValue } from "@cem/core";
import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError } from "@modelcontextprotocol/server";
import type { McpServer, ServerContext } from "@modelcontextprotocol/server";
import {
  behindName,
  behindUri,
  exposedName,
  exposedUri,
  isObject,
  withExposedUris,
} from "./exposed-names.ts";
import { sessionOf } from "./server-tool.ts";
import type { Exposed, UpstreamContents, UpstreamKind, UpstreamOptions } from "./upstream-contents.ts";

/** What {@link exposeContents} offers. */
export interface ExposeSettings {
  expose: readonly Exposed[];
  upstream: UpstreamContents;
  /** Receives why a server's resources or prompts are missing from a list. */
  onMissing?: ((server: string, error: unknown) => void) | undefined;
}

/** The capabilities of a server that offers resources and prompts of those behind it. */
export function exposedCapabilities(expose: readonly Exposed[]): object {
  const changing = { listChanged: true };
  return {
    ...(expose.includes("resources") ? { resources: changing } : {}),
    ...(expose.includes("prompts") ? { prompts: changing } : {}),
    ...(expose.length === 0 ? {} : { completions: {} }),
  };
}

/** Answers requests for resources, prompts and completions with those of the servers behind, under their names. */
export function exposeContents({ server }: McpServer, settings: ExposeSettings): void {
  const { expose, upstream, onMissing = () => {} } = settings;

  /** What all servers have. One that can't be reached is left out, so that it does not hide the others'. */
  const listAll = async (
    kind: UpstreamKind,
    context: ServerContext,
    show: (server: string, item: JsonObject) => JsonObject,
  ): Promise<JsonObject[]> => {
    const options = optionsOf(context);
    const lists = upstream.servers.map(async (name) => {
      try {
        const items = await upstream.list(name, kind, options);
        return items.map((item) => show(name, item));
      } catch (error) {
        options.signal.throwIfAborted();
        onMissing(name, error);
        return [];
      }
    });
    return (await Promise.all(lists)).flat();
  };

  if (expose.includes("resources")) {
    server.setRequestHandler("resources/list", async (_request, context) => {
      const resources = await listAll("resources", context, (name, item) => under(name, item, "uri"));
      return { resources } as never;
    });
    server.setRequestHandler("resources/templates/list", async (_request, context) => {
      const show = (name: string, item: JsonObject): JsonObject => under(name, item, "uriTemplate");
      return { resourceTemplates: await listAll("resourceTemplates", context, show) } as never;
    });
    server.setRequestHandler("resources/read", async ({ params: { uri } }, context) => {
      const behind = behindUri(uri, upstream.servers);
      if (behind === undefined) throw new ResourceNotFoundError(uri);
      const request = { method: "resources/read", params: { uri: behind.own } } as const;
      const { contents } = await answered(upstream.request(behind.server, request, optionsOf(context)));
      const show = (part: JsonValue): JsonValue =>
        isObject(part)
          ? { ...part, uri: exposedUri(behind.server, String(part["uri"] ?? behind.own)) }
          : part;
      return { contents: Array.isArray(contents) ? contents.map(show) : [] } as never;
    });
  }
  if (expose.includes("prompts")) {
    server.setRequestHandler("prompts/list", async (_request, context) => {
      const show = (name: string, item: JsonObject): JsonObject => ({
        ...item,
        name: exposedName(name, String(item["name"])),
      });
      return { prompts: await listAll("prompts", context, show) } as never;
    });
    server.setRequestHandler("prompts/get", async ({ params }, context) => {
      const behind = behindName(params.name, upstream.servers);
      if (behind === undefined) {
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no prompt "${params.name}".`);
      }
      const request = {
        method: "prompts/get",
        params: { name: behind.own, arguments: params.arguments },
      } as const;
      const result = await answered(upstream.request(behind.server, request, optionsOf(context)));
      const { description, messages } = result;
      const show = (message: JsonValue): JsonValue =>
        isObject(message)
          ? { ...message, content: withExposedUris(behind.server, message["content"] ?? null) }
          : message;
      const shown = Array.isArray(messages) ? messages.map(show) : [];
      return (description === undefined ? { messages: shown } : { description, messages: shown }) as never;
    });
  }
  if (expose.length === 0) return;
  server.setRequestHandler("completion/complete", async ({ params }, context) => {
    const { ref, ...rest } = params;
    const isPrompt = ref.type === "ref/prompt";
    const behind = isPrompt ? behindName(ref.name, upstream.servers) : behindUri(ref.uri, upstream.servers);
    if (behind === undefined) {
      const what = isPrompt ? `prompt "${ref.name}"` : `resource "${ref.uri}"`;
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no ${what}.`);
    }
    const own = isPrompt ? { ...ref, name: behind.own } : { ...ref, uri: behind.own };
    const request = {
      method: "completion/complete",
      params: { ...rest, ref: own } as unknown as JsonObject,
    } as const;
    const result = await answered(upstream.request(behind.server, request, optionsOf(context)));
    return { completion: result["completion"] ?? { values: [] } } as never;
  });
}

/** An item with the URI it has here, and a name that says whose it is. */
function under(server: string, item: JsonObject, key: "uri" | "uriTemplate"): JsonObject {
  const { name, title } = item;
  return {
    ...item,
    name: exposedName(server, String(name ?? "")),
    ...(typeof title === "string" ? { title: `${server}: ${title}` } : {}),
    [key]: exposedUri(server, String(item[key])),
  };
}

function optionsOf(context: ServerContext): UpstreamOptions {
  const { session, singleUse } = sessionOf(context);
  return { signal: context.mcpReq.signal, session: singleUse === true ? undefined : session };
}

/** Passes an error of the server behind on in the protocol's terms. */
async function answered(result: Promise<JsonObject>): Promise<JsonObject> {
  try {
    return await result;
  } catch (error) {
    if (!CemError.isInstance(error)) throw error;
    const { rpcCode } = error.details;
    const code = typeof rpcCode === "number" ? rpcCode : ProtocolErrorCode.InternalError;
    throw new ProtocolError(code, error.message);
  }
}
