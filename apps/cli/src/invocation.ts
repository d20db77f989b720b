import type { Profile, TransportName } from "code-execution-mcp";
import type { Detail, SharedOptions } from "./command-options.ts";

/** What the command line asks for. */
export type Invocation =
  | { command: "run"; task: string; options: SharedOptions }
  | { command: "exec"; file: string; options: SharedOptions }
  | { command: "tools"; server?: string | undefined; options: SharedOptions }
  | { command: "search"; query: string; detail: Detail; max: number; options: SharedOptions }
  | { command: "doctor"; listValues: boolean; options: SharedOptions }
  | { command: "init"; dir: string; options: SharedOptions }
  | ServerInvocation
  | ServeInvocation
  | { command: "model"; action: "pull"; name?: string | undefined; options: SharedOptions }
  | {
      command: "audit";
      action: "verify";
      file?: string | undefined;
      expect?: string | undefined;
      options: SharedOptions;
    }
  | ({ command: "bench"; options: SharedOptions } & BenchOptions)
  | { command: "help"; text: string }
  | { command: "version"; text: string };

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
  host?: string | undefined;
  port?: number | undefined;
  /** Print what the tools cost in tokens, and serve nothing. */
  cost: boolean;
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
