export { createMcpConnections } from "./connections.ts";
export { createMcpInvoker, createMcpToolSource } from "./invoker.ts";
export { isServerRequest, SERVER_REQUESTS } from "./server-request-names.ts";
export { serverRequestDefinitions } from "./server-request-definitions.ts";
export { fillVariables } from "./fill-variables.ts";
export { readClientConfigs } from "./client-configs.ts";
export { CemError } from "@cem/core";

export type { McpConnections, McpConnectionsSettings } from "./connections.ts";
export type {
  AuthorizeOptions,
  CallOptions,
  ContentChange,
  ContentKind,
  ListedItems,
  ListKind,
  LogEntry,
  RawToolResult,
  Root,
  ServerRequest,
  ServerStatus,
  ToolList,
} from "./connection-types.ts";
export type { McpInvokerSettings, McpToolSourceSettings } from "./invoker.ts";
export type { ClientConfigs, FoundServer } from "./client-configs.ts";
export type { AuthSettings, McpServerSettings, TransportSettings } from "./server-settings.ts";
export type { LeftOutTool, RemoteTool } from "./tool-definitions.ts";
export type {
  Elicit,
  ElicitAnswer,
  ElicitRequest,
  InvokeContext,
  JsonObject,
  JsonValue,
  ResultStore,
  ToolCall,
  ToolInvoker,
  ToolProgress,
  ToolResult,
} from "@cem/core";
