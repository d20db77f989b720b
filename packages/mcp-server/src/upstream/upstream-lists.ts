import { isObject } from "@cem/core";
import type { Elicit, JsonObject, JsonValue, Sample } from "@cem/core";
import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError } from "@modelcontextprotocol/server";

/** Kinds of contents of the servers behind this one, besides tools. */
export const EXPOSED = ["resources", "prompts"] as const;
export type Exposed = (typeof EXPOSED)[number];

/** Kinds of items that {@link UpstreamContents.list} lists. */
export type UpstreamKind = "resources" | "resourceTemplates" | "prompts";

/** A request that one server behind this one answers. */
export type UpstreamRequest =
  | { method: "resources/read"; params: { uri: string } }
  | { method: "prompts/get"; params: { name: string; arguments?: Record<string, string> | undefined } }
  | { method: "completion/complete"; params: JsonObject }
  | { method: "resources/subscribe" | "resources/unsubscribe"; params: { uri: string } };

/** On whose behalf the servers behind are asked. */
export interface UpstreamOptions {
  signal: AbortSignal;
  /** The session of the client, which may have a connection of its own. */
  session?: string | undefined;
  elicit?: Elicit | undefined;
  sample?: Sample | undefined;
}

/** Resources and prompts of the servers behind this one. */
export interface UpstreamContents {
  /** The names of the servers that are switched on. */
  readonly servers: readonly string[];
  /** Lists what one server has. Empty where it has none of the kind. @throws CemError where it can't be reached. */
  list(server: string, kind: UpstreamKind, options: UpstreamOptions): Promise<readonly JsonObject[]>;
  request(server: string, request: UpstreamRequest, options: UpstreamOptions): Promise<JsonObject>;
  /** A URI of a server as clients of the session see it. Default: as it is. */
  shownUri?(server: string, uri: string, options: Pick<UpstreamOptions, "session">): string;
}

/** URIs and names of what servers behind have begin with the server's name here, so that none hides another's. */
const URI_START = "mcp://";

/** The target of an exposed URI or name. */
export interface Behind {
  server: string;
  /** The URI, template or name as the server itself knows it. */
  own: string;
}

/** `mcp://<server>/<uri>`, also for a template. The URI itself is kept as it is, whatever it contains. */
export function exposedUri(server: string, uri: string): string {
  return `${URI_START}${encodeURIComponent(server)}/${uri}`;
}

/** `<server>.<prompt>`, as tools are named. */
export function exposedName(server: string, name: string): string {
  return `${server}.${name}`;
}

/**
 * The reverse of {@link exposedUri} or {@link exposedName}. `undefined` for any other text. A server's name may contain a dot:
 * the longest that fits is meant.
 */
function behindOf(text: string, exposed: typeof exposedName, servers: readonly string[]): Behind | undefined {
  const [server] = servers
    .filter((one) => text.startsWith(exposed(one, "")))
    .toSorted((one, other) => other.length - one.length);
  return server === undefined ? undefined : { server, own: text.slice(exposed(server, "").length) };
}

/** Whether a URI may be of a template: it begins as the template does before its first variable. */
function fitsTemplate(uri: string, template: string): boolean {
  const [start = "", ...variables] = template.split("{");
  return start === "" || variables.length === 0 ? uri === template : uri.startsWith(start);
}

/** Content of a prompt whose resources have their exposed URIs, so that the client can read them. */
export function withExposedUris(server: string, content: JsonValue): JsonValue {
  if (!isObject(content)) return content;
  const { uri, resource } = content;
  if (content["type"] === "resource_link" && typeof uri === "string") {
    return { ...content, uri: exposedUri(server, uri) };
  }
  if (!isObject(resource) || typeof resource["uri"] !== "string") return content;
  return { ...content, resource: { ...resource, uri: exposedUri(server, resource["uri"]) } };
}

/** An item of one server, as it sent it. */
export interface UpstreamItem {
  server: string;
  item: JsonObject;
}

/** Lists what the servers behind have, and finds what a URI or a name stands for. */
export function createUpstreamLists(
  upstream: UpstreamContents,
  onMissing: (server: string, error: unknown) => void,
) {
  /** A URI of a server as the client sees it, whichever way the client or the server wrote it. */
  const shownUri = (server: string, uri: string, options: Pick<UpstreamOptions, "session">): string =>
    upstream.shownUri?.(server, uri, options) ?? uri;

  /** The items of all servers. A server that can't be reached is left out, so that it does not hide the others'. */
  async function all(kind: UpstreamKind, options: UpstreamOptions): Promise<UpstreamItem[]> {
    const lists = upstream.servers.map(async (server) => {
      try {
        return (await upstream.list(server, kind, options)).map((item) => ({ server, item }));
      } catch (error) {
        options.signal.throwIfAborted();
        onMissing(server, error);
        return [];
      }
    });
    return (await Promise.all(lists)).flat();
  }

  return {
    all,
    shownUri,
    /**
     * Finds a resource by its URI here, or by the server's own, which results of tools mention, where only one server has it.
     *
     * @throws ResourceNotFoundError
     */
    async findResource(uri: string, options: UpstreamOptions): Promise<Behind> {
      const behind = behindOf(uri, exposedUri, upstream.servers);
      if (behind !== undefined) return { ...behind, own: shownUri(behind.server, behind.own, options) };
      const [resources, templates] = await Promise.all([
        all("resources", options),
        all("resourceTemplates", options),
      ]);
      const shown = (server: string): string => shownUri(server, uri, options);
      const named = resources.filter(({ server, item }) => item["uri"] === shown(server));
      const fitting = templates.filter(({ server, item }) =>
        fitsTemplate(shown(server), textOf(item, "uriTemplate")),
      );
      const [only, ...others] = new Set((named.length > 0 ? named : fitting).map(({ server }) => server));
      if (only === undefined || others.length > 0) throw new ResourceNotFoundError(uri);
      return { server: only, own: shown(only) };
    },
    /**
     * Finds a prompt by its name here, or by the server's own where only one server has it.
     *
     * @throws ProtocolError
     */
    async findPrompt(name: string, options: UpstreamOptions): Promise<Behind> {
      const behind = behindOf(name, exposedName, upstream.servers);
      if (behind !== undefined) return behind;
      const prompts = await all("prompts", options);
      const [found, ...others] = prompts.filter(({ item }) => item["name"] === name);
      if (found !== undefined && others.length === 0) return { server: found.server, own: name };
      const reason = found === undefined ? "There is no prompt" : "Several servers have a prompt";
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `${reason} ${JSON.stringify(name)}.`);
    },
  };
}

/** A member of an item that has to be a text. Empty for one that is none. */
export function textOf(item: JsonObject, key: string): string {
  const value = item[key];
  return typeof value === "string" ? value : "";
}
