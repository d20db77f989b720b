export { createGuard } from "./guard.ts";
export type { FindOrders } from "./inspect-output.ts";
export type { GuardSettings, ReviewRule } from "./guard.ts";
export type { Finding, Guard, ReviewRequest, ToolDefinition, Verdict } from "@cem/core";
