export { definePlugin } from "./define-plugin.ts";
export type {
  Plugin,
  PluginCommand,
  PluginCommandContext,
  PluginContext,
  PluginOptions,
  PluginParts,
} from "./define-plugin.ts";
export { openPlugins } from "./open-plugins.ts";
export type { NamedPart, OpenPluginsSettings, PluginReport, PluginRequest, PluginSet } from "./plugin-set.ts";
export { addGuards } from "./guarded-guard.ts";
export { askGenerators } from "./guarded-generator.ts";
export { askSelectors } from "./guarded-selector.ts";
export type { PluginTimes } from "./plugin-use.ts";
export type { EventListeners } from "./event-listeners.ts";
