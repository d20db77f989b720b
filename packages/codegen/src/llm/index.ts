export { createFallbackGenerator, createLlmGenerator } from "./llm-generator.ts";
export type { LlmBudget, LlmPrices, LlmProvider, LlmSettings } from "./settings.ts";
export type { ToolDefinition } from "@cem/core";
