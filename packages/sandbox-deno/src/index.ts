export { createDenoSandboxProvider } from "./provider.ts";
export type { DenoSandboxSettings } from "./provider.ts";
export type { IsolationChoice } from "./detect-isolation.ts";
export type { GuestSandbox, GuestSandboxProvider, SandboxReuse } from "@cem/sandbox";
export type { RunOutcome, RunRequest, Sandbox, SandboxProvider, SandboxSpec } from "@cem/core";
