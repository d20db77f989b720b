export { createAgent, executeTask } from "./create-agent.ts";
export type { AgentOptions, ConfigSource } from "./agent-options.ts";
export { inspectHost } from "./inspect-host.ts";
export type { FolderReport, HostReport } from "./inspect-host.ts";
export { makeFolder } from "./make-folder.ts";
export { createSandbox, sandboxSpec } from "./sandboxes.ts";
export type { SandboxOptions } from "./sandboxes.ts";

export { createAgent as createPipeline } from "@cem/agent";
export type { AgentSettings } from "@cem/agent";
export { createRulesGenerator } from "@cem/codegen";
export { loadConfig } from "@cem/config";
export type { Config, ConfigInput, LoadConfigOptions, LoadedConfig } from "@cem/config";
export { CemError, DEFAULT_RUN_LIMITS, toErrorInfo, toolId } from "@cem/core";
export type {
  Agent,
  AgentEvent,
  CatalogSnapshot,
  CodeGenerator,
  ErrorInfo,
  ExecuteOptions,
  Guard,
  Isolation,
  IsolationLevel,
  JsonValue,
  RankedTool,
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
} from "@cem/core";
export { createDiscovery } from "@cem/discovery";
export { createGuard } from "@cem/guardrails";
export { createDenoSandboxProvider } from "@cem/sandbox-deno";
export { createMicrosandboxProvider } from "@cem/sandbox-msb";
export { createSelector } from "@cem/selector";
