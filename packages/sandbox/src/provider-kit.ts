// Building blocks for sandbox providers. Code that only uses a sandbox needs none of them.
export { preloadCompiler } from "./runs/compile-for-guest.ts";
export { connectGuest } from "./guests/connected-guest.ts";
export type { ConnectedGuest } from "./guests/connected-guest.ts";
export { denoArguments } from "./guests/deno-arguments.ts";
export type { DenoArguments } from "./guests/deno-arguments.ts";
export { guestBootFile } from "./guests/guest-boot.ts";
export { findDenoPackage } from "./guests/deno-package.ts";
export { GUEST_RUNNER } from "./guests/guest-spec.ts";
export { createGuest, createMachineGuest } from "./guests/create-guest.ts";
export type { GuestInit, GuestRunner, MachineRunner } from "./guests/create-guest.ts";
export {
  createGuestProvider,
  guestInit,
  probeHost,
  requireLevel,
  toolFoldersOf,
} from "./guests/guest-provider.ts";
export type { ProviderParts } from "./guests/guest-provider.ts";
export {
  guestEnvironment,
  guestMounts,
  machineCommand,
  namespacedDenoArguments,
  scriptArguments,
} from "./guests/namespaced-guest.ts";
export type { MachineCommand, NamespacedGuest } from "./guests/namespaced-guest.ts";
export { needsIpv6, parseHost } from "./workspace/network-rules.ts";
export { createUsageReader } from "./runs/process-usage.ts";
export { findLibraries, NETWORK_FILES, systemLibraries } from "./guests/system-libraries.ts";
