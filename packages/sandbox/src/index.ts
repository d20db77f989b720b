export { createGuestSandbox } from "./guest-sandbox.ts";
export type { GuestSandbox, GuestSandboxSettings, SandboxReuse } from "./guest-sandbox.ts";
export type { GuestProviderSettings, GuestSandboxProvider } from "./guest-provider.ts";
export { FairGate } from "./fair-gate.ts";
export { GUEST_CLIENT_DECLARATIONS, GUEST_CLIENT_SPECIFIER, GUEST_CLIENT_TYPES } from "./guest-boot.ts";
export { resolveLimits } from "./run-limits.ts";
export type { Guest, GuestExit, GuestUsage } from "./guest.ts";
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
export type { RunRefusal } from "./run-refusal.ts";
