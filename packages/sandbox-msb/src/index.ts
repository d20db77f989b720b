export { listMachines, prepareMachines } from "./machines.ts";
export type { ListedMachine } from "./machines.ts";
export { createMicrosandboxProvider } from "./provider.ts";
export type { MicrosandboxProvider, MicrosandboxSettings } from "./provider.ts";
export { createMicrosandboxServerProvider } from "./server/server-provider.ts";
export type { MicrosandboxServerProvider, MicrosandboxServerSettings } from "./server/server-provider.ts";
export type { ServerAddress } from "./server/server-rpc.ts";
