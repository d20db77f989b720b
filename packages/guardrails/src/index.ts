export { createGuard } from "./guard.ts";
export type { GuardSettings } from "./guard.ts";
export type { Finding, Guard, ReviewRequest, ToolDefinition, Verdict } from "@cem/core";
