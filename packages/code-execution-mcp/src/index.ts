export { createAgent, executeTask } from "./create-agent.ts";
export type { AgentOptions, ConfigSource } from "./options.ts";
export { generateTools } from "./admin/servers.ts";
export { openWorkflows, runWorkflow } from "./workflows.ts";
export type { OwnWorkflows, WorkflowOptions } from "./workflows.ts";
export type {
  ResumeOptions,
  RunDetails,
  RunStatus,
  RunSummary,
  RunWorkflowOptions,
  WorkflowEvent,
  WorkflowResult,
} from "@cem/workflows";
export { createServer, runServer } from "./create-server.ts";
export type { RunningServer } from "./create-server.ts";
export { runWorker } from "./run-worker.ts";
export type { RunningWorker, WorkerOptions } from "./run-worker.ts";
export type { CemServer, RunServerOptions, ServerOptions, TransportName } from "./options.ts";
export type { Log, LogLevel } from "./wiring/log.ts";
export { defineTool } from "@cem/bridge/define-tool";
export { definePlugin } from "./plugins/define-plugin.ts";
export type { Plugin, PluginContext, PluginParts } from "./plugins/define-plugin.ts";
export type { GivenPlugin } from "./plugins/configured-plugins.ts";
export type { ReviewRule } from "@cem/guardrails";
export type { HostTool, HostToolContext, ToolSchema } from "@cem/bridge/define-tool";
export { loadConfig } from "./wiring/open-project.ts";
export type { Config, ConfigInput, LoadConfigOptions, LoadedConfig } from "@cem/config";
export { CemError, toErrorInfo, toolId } from "@cem/core";
export type { CallRule, ContentFilter, PlannedWrite, RuledCall } from "@cem/guardrails/calls";
export type {
  Agent,
  AgentEvent,
  ApprovalAnswer,
  ApprovalRequest,
  Approve,
  AuditEvent,
  AuditLog,
  CatalogSnapshot,
  CodeGenerator,
  Elicit,
  ElicitAnswer,
  ElicitRequest,
  ErrorCode,
  ErrorInfo,
  ExecuteOptions,
  Guard,
  Isolation,
  IsolationLevel,
  JsonValue,
  RankedTool,
  ResultHandle,
  ResultStore,
  RunLimits,
  Sandbox,
  SandboxProvider,
  SandboxSpec,
  SaveSkillOptions,
  SearchOptions,
  Skill,
  SkillDraft,
  StateStore,
  TaskResult,
  TaskStatus,
  ToolCatalog,
  ToolDefinition,
  ToolInvoker,
  ToolSelector,
  TypeChecker,
  WorkflowStepContext,
  WorkflowStepKind,
} from "@cem/core";
export type { GeneratedServer } from "@cem/mcp-client/tools";
export { customTool, loadCustomTools } from "@cem/mcp-server/custom-tool";
export type { CustomTool, CustomToolContext, Exposed, Profile } from "@cem/mcp-server";
