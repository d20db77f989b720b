export { createTypeChecker } from "./type-checker.ts";
export type { TypeCheckerSettings } from "./type-checker.ts";
