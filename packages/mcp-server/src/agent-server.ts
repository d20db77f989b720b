import type { Agent, Replicas } from "@cem/core";
import type { ClientTrace } from "@cem/core/telemetry";
import type { HintFor } from "@cem/tool-files/answers";
import type { AuthInfo, McpServerFactory, StandardSchemaV1 } from "@modelcontextprotocol/server";
import type { AnyCustomTool, CustomTool } from "./custom-tool.ts";
import type { Probe } from "./http/health.ts";
import type { RunRegistry } from "./runs/run-registry.ts";
import type { OpenOwner, ServedClient } from "./served-client.ts";
import type { WorkflowTool } from "./tools/run-tools.ts";
import type { GuestFacts, Profile, ServedParts } from "./tools/server-tool.ts";
import type { Exposed, UpstreamContents } from "./upstream/upstream-lists.ts";

export interface AgentServerSettings<Config = unknown> extends ServedParts {
  /**
   * Opens what belongs to the owner of a request, in place of the parts of the server. Absent: there
   * are no owners.
   */
  openOwner?: OpenOwner | undefined;
  /** Workflows that clients see as tools, which `runWorkflow` runs. Default: none. */
  workflows?: readonly WorkflowTool[] | undefined;
  /** The set of tools that clients see. Default: `full`. */
  profile?: Profile | undefined;
  customTools?: readonly AnyCustomTool<Config>[] | undefined;
  /** Passed to the handlers of custom tools as it is. */
  config?: Config | undefined;
  /** How long a call waits for its run before it answers with the run's id, in milliseconds. Default: 45,000. */
  yieldAfterMs?: number | undefined;
  /** Resources that code can reach in the sandbox, as tool descriptions state them. Default: only `/workspace`. */
  guest?: GuestFacts | undefined;
  /** The server's name as clients see it. Default: `code-execution-mcp`. */
  name?: string | undefined;
  /**
   * Handling of the trace that a client's request names: spans go on in it, or a trace of the server's own links to it.
   *
   * @defaultValue `link` with owners, who are strangers to each other; else `join`
   */
  clientTrace?: ClientTrace | undefined;
  /**
   * Finds what helps with an error, for the reader that the server has: answers show it after the error's message.
   * Default: answers show messages alone.
   */
  hintFor?: HintFor | undefined;
  /** Contents of the servers behind that clients see besides tools. Default: none. */
  expose?: readonly Exposed[] | undefined;
  /** The resources and prompts of the servers behind. Absent: there are none to expose. */
  upstream?: UpstreamContents | undefined;
  /** Receives why what a server behind has is missing from a list. */
  onMissing?: ((server: string, error: unknown) => void) | undefined;
  /** How `/readyz` finds out whether runs can be executed. Default: it runs a program. */
  probe?: Probe | undefined;
  /** The replicas of this server behind the same address. Absent: there is one. */
  replicas?: Replicas | undefined;
}

/** Every setting's name. */
export const SETTINGS: Readonly<Record<keyof AgentServerSettings, true>> = {
  agent: true,
  state: true,
  results: true,
  skills: true,
  redactor: true,
  runWorkflow: true,
  openOwner: true,
  workflows: true,
  profile: true,
  customTools: true,
  config: true,
  yieldAfterMs: true,
  guest: true,
  name: true,
  hintFor: true,
  clientTrace: true,
  expose: true,
  upstream: true,
  onMissing: true,
  replicas: true,
  probe: true,
};

/** The lists of a server, which may change while clients are connected. */
export type ListName = "tools" | Exposed;

/** The part of a server that a transport uses. */
export interface Servable {
  readonly agent: Agent;
  readonly runs: RunRegistry;
  /** How `/readyz` finds out whether runs can be executed, where it does not run a program. */
  readonly probe?: Probe | undefined;
  /** The replicas of this server behind the same address. */
  readonly replicas?: Replicas | undefined;
  /** Creates the SDK's server for one connection or one request, in either generation of the protocol. */
  readonly factory: McpServerFactory;
  /** Calls the listener after a list, or what its tools can find, changed. */
  onListChanged(listener: (list: ListName) => void): void;
  /**
   * Refuses new runs, gives those under way `graceMs` milliseconds to finish, then ends them. Does not dispose the
   * agent.
   */
  close(graceMs?: number): Promise<void>;
}

/** An agent as an MCP server: its tools and the runs that they started. Pass it to `serveStdio` or `serveHttp`. */
export interface AgentServer<Config = unknown> extends Servable {
  /** Instructions for the models of clients. */
  readonly instructions: string;
  readonly config: Config;
  /**
   * Adds a tool and notifies the connected clients.
   *
   * @throws CemError `TOOL_INVALID` for a tool of the wrong shape, `TOOL_NAME_TAKEN`.
   */
  registerTool<Input extends StandardSchemaV1>(tool: CustomTool<Input, Config>): void;
  /** Adds several tools, or none where one of them is refused. */
  registerTools(tools: readonly AnyCustomTool<Config>[]): void;
  /**
   * Notifies the connected clients that a list changed, or for `tools` what the server's tools find and can call.
   *
   * @param message - What changed. Clients of protocol 2025-11-25 and older get it as a log message.
   */
  listChanged(list: ListName, message?: string): void;
  /**
   * Opens the agent and the stores of an authenticated client: those of its owner, where requests have owners.
   *
   * @throws CemError where the request does not say whose it is.
   */
  openClient(authInfo: AuthInfo | undefined): Promise<ServedClient>;
  /** Notifies the clients that watch a resource of a server behind. */
  resourceUpdated(server: string, uri: string): void;
}
