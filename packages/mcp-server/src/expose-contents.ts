import { CemError } from "@cem/core";
import type { JsonObject, JsonValue } from "@cem/core";
import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError } from "@modelcontextprotocol/server";
import type { McpServer, ServerContext } from "@modelcontextprotocol/server";
import {
  behindName,
  behindUri,
  exposedName,
  exposedUri,
  fitsTemplate,
  isObject,
  withExposedUris,
} from "./exposed-names.ts";
import type { Behind } from "./exposed-names.ts";
import type { AskingRequests } from "./asking-requests.ts";
import type { RequestStates } from "./request-states.ts";
import { sessionOf } from "./server-tool.ts";
import type {
  Exposed,
  UpstreamContents,
  UpstreamKind,
  UpstreamOptions,
  UpstreamRequest,
} from "./upstream-contents.ts";

/** What {@link exposeContents} offers. */
export interface ExposeSettings {
  expose: readonly Exposed[];
  upstream: UpstreamContents;
  /** Keeps requests that ask the client something. */
  asking: AskingRequests;
  states: RequestStates;
  era: "legacy" | "modern";
  /** Receives why a server's resources or prompts are missing from a list. */
  onMissing?: ((server: string, error: unknown) => void) | undefined;
}

/** What a connection offers of the servers behind. */
export interface ExposedContents {
  /** Notifies the client, if it watches this resource. */
  updated(server: string, uri: string): void;
}

/** The capabilities of a server that offers resources and prompts of those behind it. */
export function exposedCapabilities(expose: readonly Exposed[], era: "legacy" | "modern"): object {
  const changing = { listChanged: true };
  // In 2026-07-28 nobody tells the server behind which resources a client watches.
  const watched = era === "legacy" ? { subscribe: true } : {};
  return {
    ...(expose.includes("resources") ? { resources: { ...changing, ...watched } } : {}),
    ...(expose.includes("prompts") ? { prompts: changing } : {}),
    ...(expose.length === 0 ? {} : { completions: {} }),
  };
}

/** Answers requests for resources, prompts and completions with those of the servers behind, under their names. */
export function exposeContents({ server }: McpServer, settings: ExposeSettings): ExposedContents {
  const { expose, upstream, asking, states, era, onMissing = () => {} } = settings;
  /** The watched resources: the URI that the client knows, by the exposed one. */
  const watched = new Map<string, string>();

  /** Sends a request to a server behind, whose questions reach the client. */
  const ask = async (to: string, request: UpstreamRequest, context: ServerContext): Promise<JsonObject> => {
    const answer = await asking.follow(context, ({ signal, questions: { elicit, sample } }) =>
      answered(upstream.request(to, request, { ...optionsOf(context), signal, elicit, sample })),
    );
    return (await states.signed(answer, context)) as JsonObject;
  };

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

  /** By its URI here, or by the server's own, which results of tools mention, where only one server has it. */
  const findResource = async (uri: string, context: ServerContext): Promise<Behind> => {
    const behind = behindUri(uri, upstream.servers);
    if (behind !== undefined) return behind;
    const own = (server: string, item: JsonObject): JsonObject => ({ ...item, server });
    const [resources, templates] = await Promise.all([
      listAll("resources", context, own),
      listAll("resourceTemplates", context, own),
    ]);
    const named = resources.filter((item) => item["uri"] === uri);
    const fitting = templates.filter(({ uriTemplate }) => fitsTemplate(uri, String(uriTemplate)));
    const servers = new Set((named.length > 0 ? named : fitting).map(({ server }) => String(server)));
    const [only] = servers;
    if (only === undefined || servers.size > 1) throw new ResourceNotFoundError(uri);
    return { server: only, own: uri };
  };

  /** By its name here, or by the server's own where only one server has it. */
  const findPrompt = async (name: string, context: ServerContext): Promise<Behind> => {
    const behind = behindName(name, upstream.servers);
    if (behind !== undefined) return behind;
    const prompts = await listAll("prompts", context, (server, item) => ({
      server,
      name: item["name"] ?? "",
    }));
    const [found, ...others] = prompts.filter((prompt) => prompt["name"] === name);
    if (found !== undefined && others.length === 0) return { server: String(found["server"]), own: name };
    const reason = found === undefined ? "There is no prompt" : "Several servers have a prompt";
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `${reason} ${JSON.stringify(name)}.`);
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
      const behind = await findResource(uri, context);
      const request = { method: "resources/read", params: { uri: behind.own } } as const;
      const result = await ask(behind.server, request, context);
      if (isInputRequired(result)) return result as never;
      const { contents } = result;
      const show = (part: JsonValue): JsonValue => {
        if (!isObject(part)) return part;
        const own = String(part["uri"] ?? behind.own);
        // Who asks by the server's own URI gets it back.
        return { ...part, uri: behind.own === uri ? own : exposedUri(behind.server, own) };
      };
      return { contents: Array.isArray(contents) ? contents.map(show) : [] } as never;
    });
  }
  if (expose.includes("resources") && era === "legacy") {
    for (const method of ["resources/subscribe", "resources/unsubscribe"] as const) {
      server.setRequestHandler(method, async ({ params: { uri } }, context) => {
        const behind = await findResource(uri, context);
        const request = { method, params: { uri: behind.own } };
        await answered(upstream.request(behind.server, request, optionsOf(context)));
        const exposed = exposedUri(behind.server, behind.own);
        if (method === "resources/subscribe") watched.set(exposed, uri);
        else watched.delete(exposed);
        return {};
      });
    }
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
      const behind = await findPrompt(params.name, context);
      const request = {
        method: "prompts/get",
        params: { name: behind.own, arguments: params.arguments },
      } as const;
      const result = await ask(behind.server, request, context);
      if (isInputRequired(result)) return result as never;
      const { description, messages } = result;
      const show = (message: JsonValue): JsonValue =>
        isObject(message)
          ? { ...message, content: withExposedUris(behind.server, message["content"] ?? null) }
          : message;
      const shown = Array.isArray(messages) ? messages.map(show) : [];
      return (description === undefined ? { messages: shown } : { description, messages: shown }) as never;
    });
  }
  const updated: ExposedContents["updated"] = (name, own) => {
    const uri = watched.get(exposedUri(name, own));
    if (uri !== undefined) server.sendResourceUpdated({ uri }).catch(() => {});
  };
  if (expose.length === 0) return { updated };
  server.setRequestHandler("completion/complete", async ({ params }, context) => {
    const { ref, ...rest } = params;
    const isPrompt = ref.type === "ref/prompt";
    const behind = isPrompt ? await findPrompt(ref.name, context) : await findResource(ref.uri, context);
    const own = isPrompt ? { ...ref, name: behind.own } : { ...ref, uri: behind.own };
    const request = {
      method: "completion/complete",
      params: { ...rest, ref: own } as unknown as JsonObject,
    } as const;
    const result = await answered(upstream.request(behind.server, request, optionsOf(context)));
    return { completion: result["completion"] ?? { values: [] } } as never;
  });
  return { updated };
}

function isInputRequired(result: JsonObject): boolean {
  return result["resultType"] === "input_required";
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
