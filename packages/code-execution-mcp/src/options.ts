import type { AnsweredCall } from "@cem/bridge";
import type { Config, ConfigSource as ConfigFiles } from "@cem/config";
import type {
  Agent,
  AuditLog,
  CodeGenerator,
  Elicit,
  Guard,
  Redactor,
  ResultStore,
  SandboxProvider,
  StateStore,
  ToolCatalog,
  ToolInvoker,
  ToolSelector,
  TypeChecker,
} from "@cem/core";
import type { ReviewRule } from "@cem/guardrails";
import type { AgentServer, AnyCustomTool, Exposed, Profile } from "@cem/mcp-server";
import type { HostToolsByServer } from "@cem/mcp-client/tools";
import type { GivenPlugin } from "./plugins/configured-plugins.ts";
import type { CallGuardOptions } from "./wiring/calls/call-guards.ts";
import type { Log } from "./wiring/log.ts";

/** Where the configuration comes from, and whose folders are used. */
export interface ConfigSource extends ConfigFiles {
  /**
   * The id of the customer whose workspace, state, skills, sessions and sign-ins are used: letters, digits, `_` and `-`.
   * Default: `customers.id` of the configuration, else one workspace without customers.
   */
  customer?: string | undefined;
}

/** Options of {@link createAgent}. Each default stage can be replaced by your own. The agent does not dispose yours. */
export interface AgentOptions extends ConfigSource, CallGuardOptions {
  catalog?: ToolCatalog | undefined;
  selector?: ToolSelector | undefined;
  generator?: CodeGenerator | undefined;
  guard?: Guard | undefined;
  /** Additional rules for code, which the default guard applies after its own. */
  reviewRules?: readonly ReviewRule[] | undefined;
  /** Records runs, verdicts, calls, approvals and refusals. Default: the file that `logging.audit_file` names. */
  audit?: AuditLog | undefined;
  typeChecker?: TypeChecker | undefined;
  sandboxProvider?: SandboxProvider | undefined;
  /**
   * Whether the agent is for a single run, so that no guest is kept ready for another.
   *
   * @defaultValue false
   */
  oneRun?: boolean | undefined;
  /** Functions of the host as tools, by server and tool name: `{ crm: { find_customer: defineTool({ … }) } }`. */
  tools?: HostToolsByServer | undefined;
  /** Plugins made with `definePlugin`. They are loaded before those of the configuration. */
  plugins?: readonly GivenPlugin[] | undefined;
  /** Answers calls of host tools that are not in `tools`. Default: the configured MCP servers. */
  invoker?: ToolInvoker | undefined;
  /** Asks the user a tool's question while it runs. Default: questions are cancelled. */
  onElicit?: Elicit | undefined;
  /** Redacts personal data and secrets in events and results. Default: as configured by `privacy` and `guardrails`. */
  redactor?: Redactor | undefined;
  /** Calls of an earlier run. Their recorded results are returned instead of calling host tools. */
  replay?: readonly AnsweredCall[] | undefined;
  /** The session to resume: `session_001`, `1`, or `last`. Its earlier tasks become part of the prompt. */
  resume?: string | undefined;
  /**
   * Whether sessions are logged in the workspace.
   *
   * @defaultValue `execution.state.auto_save`
   */
  sessions?: boolean | undefined;
  /**
   * Whether runs are recorded, as configured by `runs`. The CLI and servers record their runs.
   *
   * @defaultValue false
   */
  records?: boolean | undefined;
  /** Receives the lines of the log if `logging.file` is not set. Default: standard error. */
  onLog?: ((line: string) => void) | undefined;
  /** Receives every entry of the log, regardless of `logging`. */
  log?: Log | undefined;
}

/** The options of an agent, with the type of each. */
export const AGENT_OPTIONS = {
  cwd: "a string",
  configFile: true,
  config: "an object",
  trustFolder: "true or false",
  customer: "a string",
  catalog: "an object",
  selector: "an object",
  generator: "an object",
  guard: "an object",
  reviewRules: "a list",
  audit: "an object",
  rules: "a list",
  contentFilter: true,
  onApprove: "a function",
  onPlannedWrite: "a function",
  approvedWrites: "a list",
  typeChecker: "an object",
  sandboxProvider: "an object",
  oneRun: "true or false",
  tools: "an object",
  plugins: "a list",
  invoker: "an object",
  onElicit: "a function",
  redactor: "an object",
  replay: "a list",
  resume: "a string",
  sessions: "true or false",
  records: "true or false",
  onLog: "a function",
  log: "a function",
} as const satisfies Record<keyof AgentOptions, unknown>;

export interface ServerOptions extends AgentOptions {
  /** Your own agent, which you warm and dispose. Default: an agent created from the configuration, which the server disposes. */
  agent?: Agent | undefined;
  /** Your own tools in addition to the server's. Their handlers receive the agent and the configuration. */
  customTools?: readonly AnyCustomTool<Config>[] | undefined;
  /**
   * The set of tools that clients see.
   *
   * @defaultValue `server.profile` of the configuration
   */
  profile?: Profile | undefined;
  /**
   * Features of the MCP servers that clients see besides tools: resources and prompts, under the servers' names.
   *
   * @defaultValue `server.expose` of the configuration
   */
  expose?: readonly Exposed[] | undefined;
  /** Stores state. Default: JSON files, as configured. */
  state?: StateStore | undefined;
  /** Stores results that are too large to return. Default: the folder `results` of the workspace. */
  results?: ResultStore | undefined;
}

/** An agent as an MCP server that does not listen yet. Serve it with `runServer`. */
export type CemServer = AgentServer<Config>;

export type TransportName = "stdio" | "http" | "sse";

export interface RunServerOptions extends ServerOptions {
  /** @defaultValue `stdio` */
  transport?: TransportName | undefined;
  /**
   * The address to listen on, for `http` and `sse`.
   *
   * @defaultValue `server.host` of the configuration
   */
  host?: string | undefined;
  /**
   * The port to listen on; 0 for any free port.
   *
   * @defaultValue `server.port` of the configuration
   */
  port?: number | undefined;
  /** Your own server, created by `createServer`. */
  server?: CemServer | undefined;
}

/** The options of a server, with the type of each. */
export const SERVER_OPTIONS = {
  ...AGENT_OPTIONS,
  agent: "an object",
  customTools: "a list",
  profile: true,
  expose: "a list",
  state: "an object",
  results: "an object",
} as const satisfies Record<keyof ServerOptions, unknown>;

/** Where the configuration comes from, and where its log goes. */
export type ServerSource = ConfigSource &
  Pick<AgentOptions, "onLog" | "plugins"> & {
    signal?: AbortSignal | undefined;
  };
