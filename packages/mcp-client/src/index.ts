export { createMcpConnections } from "./connections.ts";
export { createMcpToolSource } from "./invoker.ts";
export {
  isServerRequest,
  SERVER_REQUESTS,
  serverRequestDefinitions,
} from "./connection/server-request-definitions.ts";
export { fillVariables } from "./settings/secret-values.ts";
export { readClientConfigs } from "./settings/client-configs.ts";

export type { McpConnections, McpConnectionsSettings } from "./connections.ts";
export type * from "./connection/connection-types.ts";
export type { McpToolSourceSettings } from "./invoker.ts";
export type { ClientConfigs, FoundServer } from "./settings/client-configs.ts";
export type { AuthSettings, McpServerSettings, TransportSettings } from "./settings/server-settings.ts";
export type { LeftOutTool, RemoteTool } from "./connection/tool-definitions.ts";
