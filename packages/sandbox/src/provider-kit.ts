// What a sandbox provider is built from. Code that only uses a sandbox needs none of it.
export { preloadCompiler } from "./compile-for-guest.ts";
export { connectGuest } from "./connected-guest.ts";
export type { ConnectedGuest } from "./connected-guest.ts";
export { denoArguments } from "./deno-arguments.ts";
export type { DenoArguments } from "./deno-arguments.ts";
export { GUEST_CLIENT_FILE, guestBootFile } from "./guest-boot.ts";
export { GuestPool } from "./guest-pool.ts";
export type { GuestPoolSettings, GuestPoolStats, Lease } from "./guest-pool.ts";
export { checkSpec, GUEST_RUNNER, GUEST_WORKSPACE } from "./guest-spec.ts";
export { encodeHostMessage } from "./host-messages.ts";
export type { InitMessage, PingMessage, RunMessage } from "./host-messages.ts";
export { guestEnvironment, namespacedDenoArguments } from "./namespaced-guest.ts";
export type { NamespacedGuest } from "./namespaced-guest.ts";
export { needsIpv6, networkRules, parseHost } from "./network-rules.ts";
export type { AllowedHost, NetworkRules } from "./network-rules.ts";
export { readUsage } from "./process-usage.ts";
export { findLibraries, NETWORK_FILES, systemLibraries } from "./system-libraries.ts";
