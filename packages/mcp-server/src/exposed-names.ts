import type { JsonObject, JsonValue } from "@cem/core";

/** URIs and names of what servers behind have begin with the server's name here, so that none hides another's. */
const URI_START = "mcp://";

/** What an exposed URI or name stands for. */
export interface Behind {
  server: string;
  /** The URI, template or name as the server itself knows it. */
  own: string;
}

/** `mcp://<server>/<uri>`, also for a template. The URI itself is kept as it is, whatever it contains. */
export function exposedUri(server: string, uri: string): string {
  return `${URI_START}${encodeURIComponent(server)}/${uri}`;
}

/** The reverse of {@link exposedUri}. `undefined` for any other URI. */
export function behindUri(uri: string, servers: readonly string[]): Behind | undefined {
  const found = servers.find((server) => uri.startsWith(exposedUri(server, "")));
  return found === undefined ? undefined : { server: found, own: uri.slice(exposedUri(found, "").length) };
}

/** `<server>.<prompt>`, as tools are named. */
export function exposedName(server: string, name: string): string {
  return `${server}.${name}`;
}

/** The reverse of {@link exposedName}. A server's name may contain a dot: the longest that fits is meant. */
export function behindName(name: string, servers: readonly string[]): Behind | undefined {
  const [found] = servers
    .filter((server) => name.startsWith(exposedName(server, "")))
    .toSorted((one, other) => other.length - one.length);
  return found === undefined ? undefined : { server: found, own: name.slice(found.length + 1) };
}

/** Whether a URI may be of a template: it begins as the template does before its first variable. */
export function fitsTemplate(uri: string, template: string): boolean {
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

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
