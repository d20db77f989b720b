import { CemError, forClients, isObject, toErrorInfo, type JsonObject, type JsonValue } from "@cem/core";
import { ProtocolError, ProtocolErrorCode, specTypeSchemas } from "@modelcontextprotocol/server";
import type { McpServer, ServerContext } from "@modelcontextprotocol/server";
import { sessionOf } from "../tools/server-tool.ts";
import type { createAskingRequests } from "./asking-requests.ts";
import type {
  Exposed,
  UpstreamContents,
  UpstreamItem,
  UpstreamOptions,
  UpstreamRequest,
} from "./upstream-contents.ts";
import { withoutNulls } from "./server-items.ts";
import { exposedName, exposedUri, textOf, withExposedUris } from "./upstream-lists.ts";
import type { Behind, createUpstreamLists } from "./upstream-lists.ts";

export interface ExposeSettings {
  expose: readonly Exposed[];
  upstream: UpstreamContents;
  /** Shared by all connections: in 2026-07-28 each request has a server of its own. */
  lists: ReturnType<typeof createUpstreamLists>;
  asking: ReturnType<typeof createAskingRequests>;
  era: "legacy" | "modern";
  /** Called with each request before it is sent upstream. */
  onRequest: (context: ServerContext) => void;
}

/** The upstream resources that the client of a connection watches. */
export interface Watching {
  /** Notifies the client of a change of an upstream resource, if it watches it. */
  notify: (server: string, uri: string) => void;
  end: () => void;
}

export function exposedCapabilities(expose: readonly Exposed[], era: "legacy" | "modern"): object {
  const changing = { listChanged: true };
  // In 2026-07-28 subscriptions are not forwarded to the upstream server.
  const watched = era === "legacy" ? { subscribe: true } : {};
  return {
    ...(expose.includes("resources") ? { resources: { ...changing, ...watched } } : {}),
    ...(expose.includes("prompts") ? { prompts: changing } : {}),
    ...(expose.length === 0 ? {} : { completions: {} }),
  };
}

/** Answers requests for resources, prompts and completions from the upstream servers, with prefixed names. */
export function exposeContents({ server }: McpServer, settings: ExposeSettings): Watching {
  const { expose, upstream, lists, asking, era, onRequest } = settings;
  /** The watched resources by exposed URI, with the URI given by the client, and the client's session. */
  const watched = new Map<string, Behind & { uri: string; session: string | undefined }>();
  const optionsOf = (context: ServerContext): UpstreamOptions => {
    onRequest(context);
    return { signal: context.mcpReq.signal, session: sessionOf(context).session };
  };

  /** Sends a request to an upstream server, whose questions are forwarded to the client. */
  const ask = async (to: Behind, request: UpstreamRequest, context: ServerContext): Promise<JsonObject> =>
    asking(context, exposedUri(to.server, to.own), (options) =>
      answered(upstream.request(to.server, request, { ...optionsOf(context), ...options })),
    );

  if (expose.includes("resources")) {
    server.setRequestHandler("resources/list", async (_request, context) => {
      const resources = await lists.all("resources", optionsOf(context));
      return { resources: resources.map((found) => under(found, "uri")) } as never;
    });
    server.setRequestHandler("resources/templates/list", async (_request, context) => {
      const templates = await lists.all("resourceTemplates", optionsOf(context));
      return { resourceTemplates: templates.map((found) => under(found, "uriTemplate")) } as never;
    });
    server.setRequestHandler("resources/read", async ({ params: { uri } }, context) => {
      const behind = await lists.findResource(uri, optionsOf(context));
      const request = { method: "resources/read", params: { uri: behind.own } } as const;
      const result = await ask(behind, request, context);
      if (isInputRequired(result)) return result as never;
      const { contents } = result;
      const show = (part: JsonValue): JsonValue => {
        if (!isObject(part)) return part;
        const own = textOf(part, "uri") || behind.own;
        // A request by the server's own URI gets that URI back.
        return { ...part, uri: behind.own === uri ? own : exposedUri(behind.server, own) };
      };
      return { contents: Array.isArray(contents) ? contents.map(show) : [] } as never;
    });
  }
  if (expose.includes("resources") && era === "legacy") {
    for (const method of ["resources/subscribe", "resources/unsubscribe"] as const) {
      server.setRequestHandler(method, async ({ params: { uri } }, context) => {
        const options = optionsOf(context);
        const behind = await lists.findResource(uri, options);
        const request = { method, params: { uri: behind.own } };
        await answered(upstream.request(behind.server, request, options));
        const exposed = exposedUri(behind.server, behind.own);
        if (method === "resources/unsubscribe") watched.delete(exposed);
        else watched.set(exposed, { uri, ...behind, session: options.session });
        return {};
      });
    }
  }
  if (expose.includes("prompts")) {
    server.setRequestHandler("prompts/list", async (_request, context) => {
      const prompts = await lists.all("prompts", optionsOf(context));
      const nameOf = ({ server: from, item }: UpstreamItem) => exposedName(from, textOf(item, "name"));
      return { prompts: prompts.map((one) => ({ ...one.item, name: nameOf(one) })) };
    });
    // The SDK's own handler reports an invalid argument as a server error.
    const params = specTypeSchemas.GetPromptRequestParams;
    server.setRequestHandler("prompts/get", { params }, async (given, context) => {
      const behind = await lists.findPrompt(given.name, optionsOf(context));
      const wanted = { name: behind.own, arguments: given.arguments };
      const request = { method: "prompts/get", params: wanted } as const;
      const result = await ask(behind, request, context);
      if (isInputRequired(result)) return result;
      const { description, messages } = result;
      const show = (message: JsonValue): JsonValue => {
        if (!isObject(message)) return message;
        return { ...message, content: withExposedUris(behind.server, message["content"] ?? null) };
      };
      const shown = Array.isArray(messages) ? messages.map(show) : [];
      const prompt = withoutNulls({
        ...(typeof description === "string" ? { description } : {}),
        messages: shown,
      });
      if (specTypeSchemas.GetPromptResult["~standard"].validate(prompt).issues === undefined) return prompt;
      const why = `Server "${behind.server}" sent a prompt that does not fit the protocol.`;
      throw new ProtocolError(ProtocolErrorCode.InternalError, why);
    });
  }
  const watching: Watching = {
    notify(name, own) {
      for (const [exposed, { uri, ...client }] of watched) {
        if (client.server === name && exposed === exposedUri(name, lists.shownUri(name, own, client)))
          server.sendResourceUpdated({ uri }).catch(() => {});
      }
    },
    end() {
      const { signal } = new AbortController();
      for (const { server: name, own: uri, session } of watched.values()) {
        const request = { method: "resources/unsubscribe", params: { uri } } as const;
        upstream.request(name, request, { signal, session }).catch(() => {});
      }
    },
  };
  if (expose.length === 0) return watching;
  server.setRequestHandler("completion/complete", async ({ params }, context) => {
    const { ref, ...rest } = params;
    const isPrompt = ref.type === "ref/prompt";
    const options = optionsOf(context);
    const behind = isPrompt
      ? await lists.findPrompt(ref.name, options)
      : await lists.findResource(ref.uri, options);
    const own = isPrompt ? { ...ref, name: behind.own } : { ...ref, uri: behind.own };
    const wanted = { ...rest, ref: own } as unknown as JsonObject;
    const request = { method: "completion/complete", params: wanted } as const;
    const result = await answered(upstream.request(behind.server, request, options));
    return { completion: result["completion"] ?? { values: [] } } as never;
  });
  return watching;
}

function isInputRequired({ resultType }: JsonObject): boolean {
  return resultType === "input_required";
}

/** An item with its exposed URI, and a name that includes its server. */
function under({ server, item }: UpstreamItem, key: "uri" | "uriTemplate"): JsonObject {
  const title = textOf(item, "title");
  return {
    ...item,
    name: exposedName(server, textOf(item, "name")),
    ...(title === "" ? {} : { title: `${server}: ${title}` }),
    [key]: exposedUri(server, textOf(item, key)),
  };
}

/** Converts an error of the upstream server to a protocol error. */
async function answered(result: Promise<JsonObject>): Promise<JsonObject> {
  try {
    return await result;
  } catch (error) {
    if (!CemError.isInstance(error)) throw error;
    const { rpcCode } = error.details;
    const code = typeof rpcCode === "number" ? rpcCode : ProtocolErrorCode.InternalError;
    throw new ProtocolError(code, forClients(toErrorInfo(error)).message);
  }
}
