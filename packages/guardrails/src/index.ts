export { createGuard } from "./guard.ts";
export type { GuardSettings } from "./guard.ts";
