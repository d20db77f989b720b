export { createFallbackGenerator, createLlmGenerator } from "./llm-generator.ts";
export type { LlmBudget, LlmPrices, LlmProvider, LlmSettings } from "./settings.ts";
export type {
  CodeGenerator,
  GeneratedCode,
  GenerateFeedback,
  GenerateRequest,
  GenerationRefused,
  GenerationUsage,
  ToolDefinition,
} from "@cem/core";
