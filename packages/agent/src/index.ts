export { EXECUTE_OPTIONS } from "./execute-options.ts";
export { createPipeline } from "./pipeline.ts";
export type { OwnedPipelineSettings, PipelineSettings } from "./stages.ts";
export type { TokenCounter } from "@cem/core/tokens";
export { CemError } from "@cem/core";
export type {
  Agent,
  AgentEvent,
  CatalogSnapshot,
  CodeGenerator,
  ExecuteOptions,
  Guard,
  RankedTool,
  Sandbox,
  SandboxStats,
  SearchOptions,
  TaskResult,
  ToolCatalog,
  ToolInvoker,
  ToolSelector,
  TypeChecker,
} from "@cem/core";
