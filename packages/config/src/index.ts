export { loadConfig } from "./load-config.ts";
export type { LoadConfigOptions, LoadedConfig } from "./loaded-config.ts";
export { configSchema } from "./schema.ts";
export type { Config, ConfigInput } from "./schema.ts";
export { SANDBOX_TYPES } from "./schema-execution.ts";
export { isServerUrl } from "./schema-store.ts";
export type { PluginSetting } from "./schema-plugins.ts";
export type { PluginSource } from "./trust/plugin-source.ts";
export type { MountSetting } from "./schema-mounts.ts";
export type {
  McpServerSetting,
  RemoteServerSetting,
  ServerAuthSetting,
  StdioServerSetting,
} from "./schema-servers.ts";
export { Secret } from "./secret.ts";
export { configJsonSchema } from "./json-schema.ts";
export { renderStarterConfig } from "./starter.ts";
export { renderConfigTemplate } from "./template.ts";
export type { TemplateOptions } from "./template.ts";
export { redactConfig } from "./redact.ts";
export { PENDING_SETTINGS, SECTIONS, SETTINGS, VARIABLES } from "./settings.ts";
export type { Setting, SettingSection, Variable } from "./settings.ts";
export type { Origin } from "./layer.ts";
export type { ConfigProblem } from "./problem.ts";
export { describeHeld, folderUntrusted } from "./trust/hold-back.ts";
export { addTrust, readTrust, removeTrust, trustFile, userConfigFolder } from "./trust/trust-store.ts";
export { describeReach } from "./trust/server-items.ts";
export { isWithin, realPath } from "./trust/places.ts";
export type { FolderTrust } from "./trust/folder-trust.ts";
export type { HeldItem, TrustItem, TrustKind } from "./trust/trust-item.ts";
export type { TrustRecord } from "./trust/trust-store.ts";
