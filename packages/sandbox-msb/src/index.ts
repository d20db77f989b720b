export { listMachines, prepareMachines } from "./machines.ts";
export type { ListedMachine } from "./machines.ts";
export { createMicrosandboxProvider } from "./provider.ts";
export type { MicrosandboxSettings } from "./machines.ts";
export type { GuestSandboxProvider } from "@cem/sandbox";
