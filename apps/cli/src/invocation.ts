import type { CemError, JsonObject } from "@cem/core";
import type { Exposed, Profile, TransportName } from "code-execution-mcp";
import type { Detail, SharedOptions } from "./command-options.ts";

/** What the command line asks for. */
export type Invocation =
  | { command: "run"; task: string; options: SharedOptions }
  | { command: "exec"; file: string; options: SharedOptions }
  | { command: "call"; target: string; args: string[]; options: SharedOptions }
  | { command: "keep-warm"; action: KeepWarmAction; idle: number; options: SharedOptions }
  | { command: "emit"; server: string; out?: string | undefined; options: SharedOptions }
  | { command: "completion"; shell: Shell; options: SharedOptions }
  | { command: "complete"; words: string[]; options: SharedOptions }
  | { command: "tools"; server?: string | undefined; options: SharedOptions }
  | { command: "search"; query: string; detail: Detail; max: number; options: SharedOptions }
  | { command: "doctor"; listValues: boolean; security: boolean; options: SharedOptions }
  | { command: "init"; dir: string; options: SharedOptions }
  | { command: "migrate"; folder: string; write: boolean; options: SharedOptions }
  | {
      command: "trust";
      folder: string;
      yes: boolean;
      list: boolean;
      remove: boolean;
      options: SharedOptions;
    }
  | ServerInvocation
  | ServeInvocation
  | VerifyInvocation
  | { command: "worker"; port?: number | undefined; options: SharedOptions }
  | { command: "store"; action: "reseal"; options: SharedOptions }
  | { command: "queue"; action: QueueAction; id?: string | undefined; options: SharedOptions }
  | CustomersInvocation
  | { command: "skills"; action: SkillAction; name?: string | undefined; options: SharedOptions }
  | ({ command: "runs"; options: SharedOptions } & RunsOptions)
  | ({ command: "sessions"; options: SharedOptions } & SessionsOptions)
  | { command: "examples"; action: ExampleAction; ids: string[]; options: SharedOptions }
  | { command: "plugins"; action: "list"; options: SharedOptions }
  | { command: "plugin-command"; name: string; words: string[]; usage: CemError; options: SharedOptions }
  | ({ command: "workflow"; options: SharedOptions } & WorkflowOptions)
  | { command: "model"; action: "pull"; name?: string | undefined; options: SharedOptions }
  | {
      command: "audit";
      action: "verify";
      file?: string | undefined;
      expect?: string | undefined;
      options: SharedOptions;
    }
  | FormInvocation
  | ({ command: "bench"; options: SharedOptions } & BenchOptions)
  | { command: "help"; text: string }
  | { command: "version"; text: string };

/** What `cem skills` can do. */
export const SKILL_ACTIONS = ["list", "show", "add", "learn", "test", "promote", "remove"] as const;
export type SkillAction = (typeof SKILL_ACTIONS)[number];

/** What `cem examples` can do. */
export const EXAMPLE_ACTIONS = ["list", "run"] as const;
export type ExampleAction = (typeof EXAMPLE_ACTIONS)[number];

/** The shells that `cem completion` knows. */
export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

/** What `cem keep-warm` can do. `serve` is the process that `start` starts. */
export const KEEP_WARM_ACTIONS = ["start", "status", "stop", "serve"] as const;
export type KeepWarmAction = (typeof KEEP_WARM_ACTIONS)[number];

/** What `cem runs` can do. */
export const RUN_ACTIONS = ["list", "show", "replay"] as const;
export type RunAction = (typeof RUN_ACTIONS)[number];

/** How a recorded run can have ended. */
export const RUN_STATUSES = ["success", "error", "refused", "timeout", "failed"] as const;

/** The arguments of `cem runs`. */
export interface RunsOptions {
  action: RunAction;
  /** The id of a run, or `last`. */
  id?: string | undefined;
  status?: (typeof RUN_STATUSES)[number] | undefined;
  since?: Date | undefined;
  text?: string | undefined;
  /** The most to list. */
  max: number;
  /** Have calls answered as they were. */
  recorded: boolean;
}

/** What `cem sessions` can do. */
export const SESSION_ACTIONS = ["list", "show", "resume", "export"] as const;
export type SessionAction = (typeof SESSION_ACTIONS)[number];

/** The arguments of `cem sessions`. */
export interface SessionsOptions {
  action: SessionAction;
  /** `session_001`, `1` or `last`. */
  id?: string | undefined;
  /** What to do next, for `resume`. */
  task: string;
  /** The most to list. */
  max: number;
  /** The file to export to. Default: stdout. */
  out?: string | undefined;
}

/** What `cem workflow` can do. */
export const WORKFLOW_ACTIONS = [
  "run",
  "validate",
  "list",
  "show",
  "resume",
  "cancel",
  "graph",
  "from-run",
] as const;
export type WorkflowAction = (typeof WORKFLOW_ACTIONS)[number];

/** The arguments of `cem workflow`. */
export interface WorkflowOptions {
  action: WorkflowAction;
  /** A workflow's name or file, a run, or a session. */
  target?: string | undefined;
  /** For `from-run`: the task of the session. */
  task?: string | undefined;
  /** Values of variables. */
  variables: JsonObject;
  /** Steps that may have been executed, to repeat. */
  repeat: string[];
  /** Steps that may have been executed, and were. */
  done: JsonObject;
  /** Print a flow chart of Mermaid. */
  mermaid: boolean;
}

/** What `cem queue` can do. */
export const QUEUE_ACTIONS = ["status", "failed", "retry"] as const;
export type QueueAction = (typeof QUEUE_ACTIONS)[number];

/** What `cem customers` can do. */
export const CUSTOMER_ACTIONS = ["list", "usage", "clean", "delete"] as const;
export type CustomerAction = (typeof CUSTOMER_ACTIONS)[number];

/** The arguments of `cem customers`. */
interface CustomersInvocation {
  command: "customers";
  action: CustomerAction;
  id?: string | undefined;
  /** Days without use. */
  inactive?: number | undefined;
  /** Only say what would be removed. */
  dryRun: boolean;
  /** Remove without asking. */
  yes: boolean;
  options: SharedOptions;
}

/** What `cem form` can do. */
export const FORM_ACTIONS = ["show", "validate", "fill"] as const;

/** The arguments of `cem form`. */
export interface FormInvocation {
  command: "form";
  action: (typeof FORM_ACTIONS)[number];
  /** The file of the form. */
  file: string;
  /** The file of the values. */
  data?: string | undefined;
  /** Fill in and compare, and send nothing. */
  trial: boolean;
  options: SharedOptions;
}

/** The arguments of one command. */
export type InvocationOf<Name extends Invocation["command"]> = Extract<Invocation, { command: Name }>;

/** What the command line asks for about MCP servers. */
export type ServerInvocation =
  | { command: "generate"; servers: string[]; accept: boolean; learn: boolean; options: SharedOptions }
  | { command: "add"; name: string; entry: Record<string, unknown>; options: SharedOptions }
  | { command: "remove"; name: string; options: SharedOptions }
  | { command: "import"; names: string[]; yes: boolean; options: SharedOptions }
  | { command: "servers"; options: SharedOptions }
  | { command: "auth"; server: string; browser: boolean; options: SharedOptions };

/** The arguments of `cem serve`. What is absent is as the configuration says. */
export interface ServeInvocation {
  command: "serve";
  transport: TransportName;
  profile?: Profile | undefined;
  expose?: Exposed[] | undefined;
  /** A module with custom tools. */
  customTools?: string | undefined;
  host?: string | undefined;
  port?: number | undefined;
  /** Print what the tools cost in tokens, and serve nothing. */
  cost: boolean;
  options: SharedOptions;
}

/** The arguments of `cem verify`. */
export interface VerifyInvocation {
  command: "verify";
  profile?: Profile | undefined;
  options: SharedOptions;
}

/** The arguments of `cem bench`. */
export interface BenchOptions {
  what: "pooling";
  /** Ids of programs, in the order they run. */
  sequence?: string[] | undefined;
  /** Id of the only program. */
  example?: string | undefined;
  all: boolean;
  /** How many times the programs run. */
  count: number;
  /** File for a plot. */
  svg?: string | undefined;
}
