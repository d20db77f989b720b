export { createGuard } from "./guard.ts";
export type { FindOrders, GuardSettings, ReviewRule } from "./guard.ts";
export type { Finding, Guard, ReviewRequest, ToolDefinition, Verdict } from "@cem/core";
