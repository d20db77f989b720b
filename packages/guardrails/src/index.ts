export { createGuard } from "./guard.ts";
export type { FindOrders, GuardSettings, ReviewRule } from "./guard.ts";
