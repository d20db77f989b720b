import type { Config } from "../schema.ts";
import { mountItems, type PathOrigins, pathItems } from "./place-items.ts";
import type { PluginSource } from "./plugin-source.ts";
import { queueItems, storeItems } from "./queue-items.ts";
import { keyItems } from "./secret-destinations.ts";
import { serverItem, type ServerPlace } from "./server-items.ts";
import type { TrustItem } from "./trust-item.ts";

/** Where the plugins are, and what those ask for that files of the folder name. */
export async function findPlugins(
  { plugins }: Config,
  place: { base: string; folder: string; isAsked: boolean },
): Promise<{ sources: PluginSource[]; items: TrustItem[] }> {
  if (plugins.length === 0) return { sources: [], items: [] };
  const { askForPlugin, findPlugin } = await import("./plugin-source.ts");
  const found = plugins.map((plugin) => findPlugin(plugin, place));
  if (!place.isAsked) return { sources: found, items: [] };
  const asked = found.map((source) => askForPlugin(source, place));
  return { sources: asked.map(({ source }) => source), items: asked.flatMap(({ item }) => item ?? []) };
}

/**
 * What files of the folder ask for.
 *
 * @param servers - The names of the MCP servers that such files name.
 */
export function requestedBy(
  config: Config,
  servers: ReadonlySet<string>,
  from: PathOrigins & ServerPlace,
): TrustItem[] {
  const { origins } = from;
  return [
    ...config.mcpServers
      .filter(({ name, enabled }) => enabled && servers.has(name))
      .map((server) => serverItem(server, from)),
    ...mountItems(config, from),
    ...pathItems(config, from),
    ...keyItems(config, origins),
    ...queueItems(config, origins),
    ...storeItems(config, origins),
  ];
}
