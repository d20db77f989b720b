export { loadConfig } from "./load-config.ts";
export type { ConfigSource, LoadConfigOptions, LoadedConfig } from "./load-config.ts";
export { configSchema } from "./schema/schema.ts";
export type { Config, ConfigInput } from "./schema/schema.ts";
export { SANDBOX_TYPES, type MountSetting } from "./schema/execution.ts";
export { isServerUrl } from "./schema/serving.ts";
export type { PluginSetting } from "./schema/extensions.ts";
export type { PluginSource } from "./trust/plugins.ts";
export type {
  McpServerSetting,
  RemoteServerSetting,
  ServerAuthSetting,
  StdioServerSetting,
} from "./schema/mcp-servers.ts";
export { Secret, redactConfig } from "./redact.ts";
export { configJsonSchema } from "./json-schema.ts";
export { renderStarterConfig } from "./template.ts";
export { SECTIONS, SETTINGS, VARIABLES } from "./settings.ts";
export type { Setting, SettingSection, Variable } from "./settings.ts";
export type { Origin, ConfigProblem } from "./layer.ts";
export { describeHeld, folderUntrusted } from "./trust/hold-back.ts";
export { addTrust, readTrust, removeTrust, trustFile, userConfigFolder } from "./trust/folder-trust.ts";
export { describeReach } from "./trust/server-items.ts";
export { isWithin } from "@cem/core/files";
export { realPath } from "./trust/places.ts";
export type { FolderTrust, TrustRecord } from "./trust/folder-trust.ts";
export type { TrustKind } from "./schema/risk.ts";
export type { HeldItem, TrustItem } from "./trust/items.ts";
