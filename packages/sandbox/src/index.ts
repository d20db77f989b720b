export { createGuestSandbox } from "./guests/guest-sandbox.ts";
export type { GuestSandbox, GuestSandboxSettings, SandboxReuse } from "./guests/guest-sandbox.ts";
export type { GuestProviderSettings, GuestSandboxProvider } from "./guests/guest-provider.ts";
export { FairGate } from "@cem/core";
export { GUEST_CLIENT_DECLARATIONS, GUEST_CLIENT_TYPES } from "./guests/guest-boot.ts";
export { resolveLimits } from "./runs/run-limits.ts";
export type { Guest, GuestExit, GuestUsage } from "./guests/guest.ts";
export type {
  Isolation,
  RunLimits,
  RunOutcome,
  RunRequest,
  Sandbox,
  SandboxProvider,
  SandboxSpec,
  SandboxStats,
} from "@cem/core";
export type { RunRefusal } from "./workspace/workspace-quota.ts";
