export { createMcpConnections } from "./connections.ts";
export type { McpConnections, McpConnectionsSettings } from "./connections.ts";
export type {
  CallOptions,
  LogEntry,
  Progress,
  RawToolResult,
  Root,
  ServerState,
  ServerStatus,
  ToolList,
} from "./connection-types.ts";
export type { LeftOutTool, RemoteTool } from "./tool-definitions.ts";
export type { ListedItems, ListKind, ServerRequest } from "./resources-and-prompts.ts";
export type { AuthorizeOptions } from "./oauth.ts";
export { DEFAULT_ELICIT_TIMEOUT_MS } from "./elicitation.ts";
export { DEFAULT_CONCURRENCY, DEFAULT_CONNECT_TIMEOUT_MS, DEFAULT_TIMEOUT_MS } from "./server-settings.ts";
export type {
  AuthorizationCodeSettings,
  AuthSettings,
  ClientCredentialsSettings,
  HttpSettings,
  McpServerSettings,
  ProtocolChoice,
  SseSettings,
  StdioSettings,
  TransportSettings,
} from "./server-settings.ts";
export { fillVariables } from "./fill-variables.ts";
export { readClientConfigs } from "./client-configs.ts";
export type { ClientConfigs, FoundServer } from "./client-configs.ts";
export type { McpClientName, ClientConfigLocations } from "./client-config-files.ts";
export { createMcpInvoker, createMcpTools } from "./invoker.ts";
export type { McpInvokerSettings, McpToolsSettings } from "./invoker.ts";
export { SERVER_REQUESTS } from "./server-request-names.ts";
