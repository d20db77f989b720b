export { createDenoSandboxProvider } from "./provider.ts";
export type { DenoSandboxSettings } from "./provider.ts";
export type { IsolationChoice } from "./detect-isolation.ts";
export { GUEST_CLIENT_DECLARATIONS } from "@cem/sandbox";
export type { GuestSandbox, GuestSandboxProvider, SandboxReuse } from "@cem/sandbox";
export type {
  RunLimits,
  RunOutcome,
  RunRequest,
  Sandbox,
  SandboxProbe,
  SandboxProvider,
  SandboxSpec,
  SandboxStats,
  ToolInvoker,
} from "@cem/core";
