export { createTypeChecker } from "./type-checker.ts";
export type { TypeCheckerSettings } from "./type-checker.ts";
export type { Finding, ReviewRequest, ToolDefinition, TypeChecker } from "@cem/core";
