export { createPipeline } from "./agent.ts";
export type { PipelineSettings } from "./agent.ts";
export type { TokenCounter } from "@cem/tokens";
