import { isObject, type JsonObject, type JsonValue } from "@cem/core";
import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError } from "@modelcontextprotocol/server";
import { createServerItems, type ItemEvents } from "./server-items.ts";
import type { UpstreamContents, UpstreamOptions } from "./upstream-contents.ts";

/** Exposed URIs and names are prefixed with the server's name, so that they can't collide. */
const URI_START = "mcp://";

/** The target of an exposed URI or name. */
export interface Behind {
  server: string;
  /** The URI, template or name at the server itself. */
  own: string;
}

/** `mcp://<server>/<uri>`, also for a template. The URI itself is kept unchanged, whatever it contains. */
export function exposedUri(server: string, uri: string): string {
  return `${URI_START}${encodeURIComponent(server)}/${uri}`;
}

/** `<server>.<prompt>`, as tools are named. */
export function exposedName(server: string, name: string): string {
  return `${server}.${name}`;
}

/** The reverse of {@link exposedUri} or {@link exposedName}. Names may contain a dot, so the longest match wins. */
function behindOf(text: string, exposed: typeof exposedName, servers: readonly string[]): Behind | undefined {
  const [server] = servers
    .filter((one) => text.startsWith(exposed(one, "")))
    .toSorted((one, other) => other.length - one.length);
  return server === undefined ? undefined : { server, own: text.slice(exposed(server, "").length) };
}

/** Whether a URI may match a template: it begins with the template's text before its first variable. */
function fitsTemplate(uri: string, template: string): boolean {
  const [start = "", ...variables] = template.split("{");
  return start === "" || variables.length === 0 ? uri === template : uri.startsWith(start);
}

/** Converts resources in a prompt's content to their exposed URIs, so that the client can read them. */
export function withExposedUris(server: string, content: JsonValue): JsonValue {
  if (!isObject(content)) return content;
  const { uri, resource } = content;
  if (content["type"] === "resource_link" && typeof uri === "string") {
    return { ...content, uri: exposedUri(server, uri) };
  }
  if (!isObject(resource) || typeof resource["uri"] !== "string") return content;
  return { ...content, resource: { ...resource, uri: exposedUri(server, resource["uri"]) } };
}

/** Lists the items of upstream servers, and resolves URIs and names. */
export function createUpstreamLists(upstream: UpstreamContents, events: ItemEvents) {
  /** A server's URI as shown to the client, whichever form the client or the server used. */
  const shownUri = (server: string, uri: string, options: Pick<UpstreamOptions, "session">): string =>
    upstream.shownUri?.(server, uri, options) ?? uri;
  const { all, find, refresh } = createServerItems(upstream, events);

  return {
    all,
    refresh,
    shownUri,
    /** By the exposed URI, or the server's own, which tool results mention, if only one server has it. @throws ResourceNotFoundError */
    async findResource(uri: string, options: UpstreamOptions): Promise<Behind> {
      const behind = behindOf(uri, exposedUri, upstream.servers);
      if (behind !== undefined) return { ...behind, own: shownUri(behind.server, behind.own, options) };
      const shown = (server: string): string => shownUri(server, uri, options);
      const found = await find(
        ["resources", "resourceTemplates"],
        options,
        (resources = [], templates = []) => {
          const named = resources.filter(({ server, item }) => item["uri"] === shown(server));
          if (named.length > 0) return named;
          return templates.filter(({ server, item }) =>
            fitsTemplate(shown(server), textOf(item, "uriTemplate")),
          );
        },
      );
      const [only, ...others] = new Set(found.map(({ server }) => server));
      if (only === undefined || others.length > 0) throw new ResourceNotFoundError(uri);
      return { server: only, own: shown(only) };
    },
    /** By the exposed name, or the server's own, if only one server has it. @throws ProtocolError */
    async findPrompt(name: string, options: UpstreamOptions): Promise<Behind> {
      const behind = behindOf(name, exposedName, upstream.servers);
      if (behind !== undefined) return behind;
      const [found, ...others] = await find(["prompts"], options, (prompts = []) =>
        prompts.filter(({ item }) => item["name"] === name),
      );
      if (found !== undefined && others.length === 0) return { server: found.server, own: name };
      const reason = found === undefined ? "There is no prompt" : "Several servers have a prompt";
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `${reason} ${JSON.stringify(name)}.`);
    },
  };
}

/** A text member of an item. Empty if it is not a text. */
export function textOf(item: JsonObject, key: string): string {
  const value = item[key];
  return typeof value === "string" ? value : "";
}
