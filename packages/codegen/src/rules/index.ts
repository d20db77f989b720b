export { createRulesGenerator } from "./rules-generator.ts";
export type { RulesGeneratorSettings } from "./rules-generator.ts";
export type {
  CodeGenerator,
  GeneratedCode,
  GenerateRequest,
  GenerationRefused,
  ToolDefinition,
} from "@cem/core";
