export { createRulesGenerator } from "./rules-generator.ts";
export type { RulesGeneratorSettings } from "./rules-generator.ts";
export type { ToolDefinition } from "@cem/core";
