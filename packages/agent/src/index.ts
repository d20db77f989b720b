export { createPipeline } from "./pipeline.ts";
export type { OwnedPipelineSettings, PipelineSettings } from "./pipeline-settings.ts";
export type { TokenCounter } from "./context-tokens.ts";
