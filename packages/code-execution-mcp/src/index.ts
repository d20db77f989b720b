export { createAgent, executeTask } from "./create-agent.ts";
export type { AgentOptions, ConfigSource } from "./agent-options.ts";
export { createServer, runServer } from "./create-server.ts";
export type {
  CemServer,
  RunningServer,
  RunServerOptions,
  ServerOptions,
  TransportName,
} from "./create-server.ts";
export { inspectHost } from "./inspect-host.ts";
export type { FolderReport, HostReport } from "./inspect-host.ts";
export { findImportable } from "./import-servers.ts";
export type { Importable, ImportableServer } from "./import-servers.ts";
export { createLog } from "./log.ts";
export type { Log, LogLevel } from "./log.ts";
export type { SearchReport } from "./configured-selector.ts";
export { makeFolder } from "./make-folder.ts";
export { measureDirectCost, measureTokenCost } from "./server-cost.ts";
export {
  addServers,
  generateTools,
  inspectServers,
  listCatalog,
  removeServerAndFiles,
  signIn,
} from "./manage-servers.ts";
export type { RemovedServer, ServerSource } from "./manage-servers.ts";
export { createUpstream } from "./upstream/create-upstream.ts";
export type { ConfiguredServer, Upstream, UpstreamOptions } from "./upstream/create-upstream.ts";
export type { ExaminedServer } from "./upstream/examine.ts";
export type { GeneratedServer, GenerateOptions } from "./upstream/generate.ts";
export { createSandbox, sandboxSpec } from "./sandboxes.ts";
export type { SandboxOptions } from "./sandboxes.ts";

export { createAgent as createPipeline } from "@cem/agent";
export type { AgentSettings } from "@cem/agent";
export { createMockInvoker, defineTool } from "@cem/bridge";
export type { HostTool, HostToolContext, MockInvoker, MockTool, ToolSchema } from "@cem/bridge";
export { createRulesGenerator } from "@cem/codegen/rules";
export { createFallbackGenerator, createLlmGenerator } from "@cem/codegen/llm";
export type { LlmSettings } from "@cem/codegen/llm";
export { loadConfig } from "@cem/config";
export type { Config, ConfigInput, LoadConfigOptions, LoadedConfig } from "@cem/config";
export { CemError, DEFAULT_RUN_LIMITS, toErrorInfo, toolId } from "@cem/core";
export type {
  Agent,
  AgentEvent,
  CatalogSnapshot,
  CodeGenerator,
  Elicit,
  ElicitAnswer,
  ElicitRequest,
  ErrorInfo,
  ExecuteOptions,
  Guard,
  Isolation,
  IsolationLevel,
  JsonValue,
  RankedTool,
  ResultHandle,
  RunLimits,
  Sandbox,
  SandboxProvider,
  SandboxSpec,
  TaskResult,
  TaskStatus,
  ToolCatalog,
  ToolDefinition,
  ToolInvoker,
  ToolSelector,
  TypeChecker,
} from "@cem/core";
export { createDiscovery } from "@cem/discovery";
export { createGuard } from "@cem/guardrails";
export { customTool } from "@cem/mcp-server/custom-tool";
export type { CustomTool, CustomToolContext, Profile, TokenCost } from "@cem/mcp-server";
export { createDenoSandboxProvider } from "@cem/sandbox-deno";
export { createMicrosandboxProvider } from "@cem/sandbox-msb";
export { createSelector } from "@cem/selector";
export { createTypeChecker } from "@cem/type-check";
