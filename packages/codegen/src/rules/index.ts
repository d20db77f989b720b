export { createRulesGenerator } from "./rules-generator.ts";
export type { RulesGeneratorSettings } from "./rules-generator.ts";
export { planTask } from "./planning/plan-task.ts";
export type { PlannedTask } from "./planning/plan-task.ts";
export type {
  CodeGenerator,
  GeneratedCode,
  GenerateRequest,
  GenerationRefused,
  ToolDefinition,
  UnfilledStep,
} from "@cem/core";
