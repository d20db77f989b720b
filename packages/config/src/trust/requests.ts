import { VARIABLES } from "../settings.ts";
import type { Config } from "../schema/schema.ts";
import { keyItems, mountItems, pathItems, settingItems, trustItem } from "./items.ts";
import type { ConfigOrigins, TrustItem } from "./items.ts";
import type { PluginPlace, PluginSource } from "./plugins.ts";
import { serverItem, type ServerPlace } from "./server-items.ts";

const SETTING_VARIABLES: ReadonlySet<string> = new Set(VARIABLES.map(({ name }) => name));

interface PluginOrigins extends PluginPlace {
  /** Whether files of the folder name them. */
  isAsked: boolean;
  /** Whether the program has further plugins of its own. */
  hasOthers: boolean;
  /** The variables that files of the folder set. */
  variables: readonly (readonly [name: string, value: string])[];
}

/** Finds the plugins, and the access requested by those that files of the folder name. */
export async function findPlugins(
  { plugins }: Config,
  { isAsked, hasOthers, variables: all, ...place }: PluginOrigins,
): Promise<{ sources: PluginSource[]; items: TrustItem[] }> {
  const variables = all.filter(([name]) => !SETTING_VARIABLES.has(name));
  const areOwn = hasOthers || (plugins.length > 0 && !isAsked);
  const given = areOwn && variables.length > 0 ? [variablesItem(variables)] : [];
  if (plugins.length === 0) return { sources: [], items: given };
  const { askForPlugin, findPlugin } = await import("./plugins.ts");
  const found = plugins.map((plugin) => findPlugin(plugin, place));
  if (!isAsked) return { sources: found, items: given };
  const asked = found.map((source) => askForPlugin(source, place.folder, variables));
  return {
    sources: asked.map(({ source }) => source),
    items: [...asked.flatMap(({ item }) => item ?? []), ...given],
  };
}

/** The item for variables of the folder's `.env` that plugins of the user receive. */
function variablesItem(variables: PluginOrigins["variables"]): TrustItem {
  const names = variables.map(([name]) => name).join(", ");
  return trustItem({ kind: "plugin", name: ".env", text: `gives ${names} to plugins` }, variables);
}

/** Lists the access that files of the folder request, which name these MCP servers. */
export function requestedBy(config: Config, servers: ReadonlySet<string>, from: ConfigOrigins & ServerPlace) {
  const { origins, own } = from;
  return [
    ...config.mcpServers
      .filter(({ name, enabled }) => enabled && servers.has(name))
      .map((server) => serverItem(server, from)),
    ...mountItems(config, from),
    ...pathItems(config, from),
    ...keyItems(config, own, origins),
    ...settingItems(config, from),
  ];
}
