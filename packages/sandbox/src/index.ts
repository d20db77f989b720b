export { createGuestSandbox } from "./guest-sandbox.ts";
export type { GuestSandbox, GuestSandboxSettings, RunRefusal, SandboxReuse } from "./guest-sandbox.ts";
export { preloadCompiler } from "./compile-for-guest.ts";
export { connectGuest } from "./connected-guest.ts";
export type { ConnectedGuest } from "./connected-guest.ts";
export { FairGate } from "./fair-gate.ts";
export { GuestPool } from "./guest-pool.ts";
export type { GuestPoolSettings, GuestPoolStats } from "./guest-pool.ts";
export type { Guest, GuestExit, GuestUsage } from "./guest.ts";
export {
  GUEST_CLIENT_DECLARATIONS,
  GUEST_CLIENT_FILE,
  GUEST_CLIENT_SPECIFIER,
  GUEST_CLIENT_TYPES,
  guestBootFile,
} from "./guest-boot.ts";
export { hostToolModule, hostToolModuleUrl } from "./host-tool-imports.ts";
export { encodeHostMessage } from "./host-messages.ts";
export type { InitMessage } from "./host-messages.ts";
export { MAX_VALUE_DEPTH } from "./json-depth.ts";
export { resolveLimits } from "./run-limits.ts";
export { denoArguments } from "./deno-arguments.ts";
export { checkSpec, GUEST_RUNNER, GUEST_WORKSPACE } from "./guest-spec.ts";
export { guestEnvironment, namespacedDenoArguments } from "./namespaced-guest.ts";
export { needsIpv6, networkRules, parseHost } from "./network-rules.ts";
export { findLibraries, NETWORK_FILES, systemLibraries } from "./system-libraries.ts";
export { readUsage } from "./process-usage.ts";
