import type { HostTool } from "@cem/bridge/define-tool";
import type { CemError, McpTransportProvider, SandboxProvider, WorkflowStepKind } from "@cem/core";
import type { CustomDetector } from "@cem/pii";
import type { PluginCommand } from "./define-plugin.ts";
import type { EventListeners } from "./event-listeners.ts";
import type { OwnedGenerator } from "./guarded-generator.ts";
import type { OwnedGuard } from "./guarded-guard.ts";
import type { OwnedSelector } from "./guarded-selector.ts";
import type { PluginTimes, PluginUse } from "./plugin-use.ts";

/** A plugin to load. */
export interface PluginRequest {
  /** How messages name it until its own name is known. */
  named: string;
  /** The module; or the plugin itself, where it is given in code. */
  from: { file: string; folder: string } | { plugin: unknown };
  options?: Readonly<Record<string, unknown>> | undefined;
  required?: boolean | undefined;
  /** Why it may not be loaded. Its code is then not touched. */
  obstacle?: { state: "held" | "failed"; error: CemError } | undefined;
}

/** Settings of {@link openPlugins}. */
export interface OpenPluginsSettings {
  /** Names that are taken before any plugin adds one. */
  taken?: Partial<Record<NamedPart, readonly string[]>> | undefined;
  /** Why a tool can't be used, though it was made with `defineTool`. */
  faultOfTool?: ((server: string, name: string, tool: HostTool) => Promise<string | undefined>) | undefined;
  variable?: ((name: string) => string | undefined) | undefined;
  log?: ((message: string) => void) | undefined;
}

/** Parts that have names, of which each belongs to the first that has it. */
export type NamedPart = "server" | "sandbox" | "step" | "transport" | "command";

/** How a plugin stands, for people. */
export interface PluginReport {
  name: string;
  version?: string | undefined;
  /** How the configuration names it: a path or a package. */
  source: string;
  /** `held`: its folder is not trusted. `failed`: it was not set up. */
  state: "ready" | "held" | "failed";
  required: boolean;
  /** What it adds: `tool crm.find`, `detector EMPLOYEE`. */
  adds: readonly string[];
  times: PluginTimes;
  /** What went wrong, one sentence each. */
  problems: readonly string[];
}

/** What all plugins add. Everything in it is checked, limited and timed. */
export interface PluginSet {
  readonly tools: Readonly<Record<string, Readonly<Record<string, HostTool>>>>;
  readonly detectors: readonly CustomDetector[];
  readonly guards: readonly OwnedGuard[];
  readonly generators: readonly OwnedGenerator[];
  readonly selectors: readonly OwnedSelector[];
  readonly sandboxes: ReadonlyMap<string, SandboxProvider>;
  readonly steps: readonly WorkflowStepKind[];
  readonly transports: ReadonlyMap<string, McpTransportProvider>;
  readonly commands: ReadonlyMap<string, { command: PluginCommand; use: PluginUse }>;
  readonly listeners: EventListeners;
  /** Has what is logged from now on go elsewhere. */
  logTo(log: (message: string) => void): void;
  reports(): PluginReport[];
  /** What went wrong so far, with the plugins' names. */
  problems(): string[];
  /** Lets the plugins free what they hold. Safe to call twice. */
  dispose(): Promise<void>;
}
