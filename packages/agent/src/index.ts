export { EXECUTE_OPTIONS } from "./execute-options.ts";
export { createPipeline } from "./pipeline.ts";
export type { OwnedPipelineSettings, PipelineSettings } from "./stages.ts";
export { CemError } from "@cem/core";
export type { Agent, AgentEvent, ExecuteOptions, SearchOptions, TaskResult } from "@cem/core";
