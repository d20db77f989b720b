export { createDiscovery } from "./create-discovery.ts";
export type { DiscoverySettings } from "./create-discovery.ts";
export { readToolSource } from "./read-tool-source.ts";
export type { ParsedToolSource } from "./read-tool-source.ts";
export type { FunctionFacts } from "./module-facts.ts";
export type { CatalogSnapshot, ToolCatalog, ToolDefinition, ToolProblem, ToolServer } from "@cem/core";
