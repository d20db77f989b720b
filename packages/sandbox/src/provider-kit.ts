// Building blocks for sandbox providers. Code that only uses a sandbox needs none of them.
export { preloadCompiler } from "./runs/compile-for-guest.ts";
export { connectGuest } from "./guests/connected-guest.ts";
export type { ConnectedGuest } from "./guests/connected-guest.ts";
export { denoArguments } from "./guests/deno-arguments.ts";
export type { DenoArguments } from "./guests/deno-arguments.ts";
export { guestBootFile } from "./guests/guest-boot.ts";
export { checkSpec, GUEST_RUNNER, GUEST_WORKSPACE } from "./guests/guest-spec.ts";
export { guestInit, probeHost, sandboxSettings, toolFoldersOf } from "./guests/guest-provider.ts";
export { createMachineProvider } from "./guests/machine-provider.ts";
export type { MachineParts } from "./guests/machine-provider.ts";
export type { GuestInit } from "./guests/guest-provider.ts";
export { encodeHostMessage } from "./protocol/host-messages.ts";
export type { InitMessage } from "./protocol/host-messages.ts";
export {
  guestEnvironment,
  guestMounts,
  machineCommand,
  namespacedDenoArguments,
} from "./guests/namespaced-guest.ts";
export type { MachineCommand, NamespacedGuest } from "./guests/namespaced-guest.ts";
export { needsIpv6, parseHost } from "./workspace/network-rules.ts";
export { createUsageReader } from "./runs/process-usage.ts";
export { findLibraries, NETWORK_FILES, systemLibraries } from "./guests/system-libraries.ts";
