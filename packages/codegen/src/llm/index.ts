export { createFallbackGenerator } from "./fallback-generator.ts";
export { createLlmGenerator } from "./llm-generator.ts";
export type { LlmBudget, LlmPrices, LlmProvider, LlmSettings } from "./settings.ts";
