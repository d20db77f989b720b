import type { JsonObject } from "@cem/core";
import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError } from "@modelcontextprotocol/server";
import { behindName, behindUri, fitsTemplate } from "./exposed-names.ts";
import type { Behind } from "./exposed-names.ts";
import type { UpstreamContents, UpstreamKind, UpstreamOptions } from "./upstream-contents.ts";

/** What one server has, as it sent it. */
export interface UpstreamItem {
  server: string;
  item: JsonObject;
}

/** Lists what the servers behind have, and finds what a URI or a name stands for. */
export class UpstreamLists {
  readonly #upstream: UpstreamContents;
  readonly #onMissing: (server: string, error: unknown) => void;

  constructor(upstream: UpstreamContents, onMissing: (server: string, error: unknown) => void) {
    this.#upstream = upstream;
    this.#onMissing = onMissing;
  }

  /** What all servers have. One that can't be reached is left out, so that it does not hide the others'. */
  async all(kind: UpstreamKind, options: UpstreamOptions): Promise<UpstreamItem[]> {
    const lists = this.#upstream.servers.map(async (server) => {
      try {
        return (await this.#upstream.list(server, kind, options)).map((item) => ({ server, item }));
      } catch (error) {
        options.signal.throwIfAborted();
        this.#onMissing(server, error);
        return [];
      }
    });
    return (await Promise.all(lists)).flat();
  }

  /**
   * Finds a resource by its URI here, or by the server's own, which results of tools mention, where only one server has it.
   *
   * @throws ResourceNotFoundError
   */
  async findResource(uri: string, options: UpstreamOptions): Promise<Behind> {
    const behind = behindUri(uri, this.#upstream.servers);
    if (behind !== undefined)
      return { ...behind, own: shownUri(this.#upstream, behind.server, behind.own, options) };
    const [resources, templates] = await Promise.all([
      this.all("resources", options),
      this.all("resourceTemplates", options),
    ]);
    const shown = (server: string): string => shownUri(this.#upstream, server, uri, options);
    const named = resources.filter(({ server, item }) => item["uri"] === shown(server));
    const fitting = templates.filter(({ server, item }) =>
      fitsTemplate(shown(server), textOf(item, "uriTemplate")),
    );
    const [only, ...others] = new Set((named.length > 0 ? named : fitting).map(({ server }) => server));
    if (only === undefined || others.length > 0) throw new ResourceNotFoundError(uri);
    return { server: only, own: shown(only) };
  }

  /**
   * Finds a prompt by its name here, or by the server's own where only one server has it.
   *
   * @throws ProtocolError
   */
  async findPrompt(name: string, options: UpstreamOptions): Promise<Behind> {
    const behind = behindName(name, this.#upstream.servers);
    if (behind !== undefined) return behind;
    const prompts = await this.all("prompts", options);
    const [found, ...others] = prompts.filter(({ item }) => item["name"] === name);
    if (found !== undefined && others.length === 0) return { server: found.server, own: name };
    const reason = found === undefined ? "There is no prompt" : "Several servers have a prompt";
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `${reason} ${JSON.stringify(name)}.`);
  }
}

/** A URI of a server as the client sees it, whichever way the client or the server wrote it. */
export function shownUri(
  upstream: UpstreamContents,
  server: string,
  uri: string,
  options: Pick<UpstreamOptions, "session">,
): string {
  return upstream.shownUri?.(server, uri, options) ?? uri;
}

/** A member of an item that has to be a text. Empty for one that is none. */
export function textOf(item: JsonObject, key: string): string {
  const value = item[key];
  return typeof value === "string" ? value : "";
}
