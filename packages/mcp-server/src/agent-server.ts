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
import type { Exposed, UpstreamContents } from "./upstream/upstream-contents.ts";

export interface AgentServerSettings<Config = unknown> extends ServedParts {
  /** Opens the parts of the owner of a request, which replace those of the server. Absent: there are no owners. */
  openOwner?: OpenOwner | undefined;
  /** Workflows exposed as tools, executed by `runWorkflow`. Default: none. */
  workflows?: readonly WorkflowTool[] | undefined;
  /** The set of tools that clients see. Default: `full`. */
  profile?: Profile | undefined;
  customTools?: readonly AnyCustomTool<Config>[] | undefined;
  /** Passed unchanged to the handlers of custom tools. */
  config?: Config | undefined;
  /** How long a call waits for its run before it returns the run's id, in milliseconds. Default: 45,000. */
  yieldAfterMs?: number | undefined;
  /** Resources that code can reach in the sandbox, as tool descriptions state them. Default: only `/workspace`. */
  guest?: GuestFacts | undefined;
  /** The server's name as clients see it. Default: `code-execution-mcp`. */
  name?: string | undefined;
  /**
   * Handling of the trace in a client's request: spans join it, or the server starts its own trace with a link to it.
   *
   * @defaultValue `link` with owners, which don't trust each other; else `join`
   */
  clientTrace?: ClientTrace | undefined;
  /** Returns a hint for an error, in words for clients, which is appended to its message. Default: no hints. */
  hintFor?: HintFor | undefined;
  /** Features of the upstream servers that clients see besides tools. Default: none. */
  expose?: readonly Exposed[] | undefined;
  /** The resources and prompts of the upstream servers. Absent: there are none to expose. */
  upstream?: UpstreamContents | undefined;
  /** Receives the reason if the items of an upstream server are missing from a list. */
  onMissing?: ((server: string, error: unknown) => void) | undefined;
  /**
   * Asks what runs need besides this process, with each request of `/readyz`. That runs a program before, unless workers
   * execute the runs of the agent. Default: nothing is asked.
   */
  probe?: Probe | undefined;
  /** The replicas of this server behind the same address. Absent: there is one. */
  replicas?: Replicas | undefined;
}

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
  /** Asks what runs need besides this process. */
  readonly probe?: Probe | undefined;
  /** The replicas of this server behind the same address. */
  readonly replicas?: Replicas | undefined;
  /** Creates the SDK's server for one connection or one request, in either generation of the protocol. */
  readonly factory: McpServerFactory;
  /** Calls the listener after a list changed, or the results of its tools did. */
  onListChanged(listener: (list: ListName) => void): void;
  /** Refuses new runs, and cancels running ones after `graceMs` milliseconds. Does not dispose the agent. */
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
  /** Adds several tools, or none if one of them is refused. */
  registerTools(tools: readonly AnyCustomTool<Config>[]): void;
  /**
   * Notifies the connected clients that a list changed; for `tools`, also if the tools that can be found and called changed.
   *
   * @param message - What changed. Clients of protocol 2025-11-25 and older get it as a log message.
   */
  listChanged(list: ListName, message?: string): void;
  /**
   * Opens the agent and the stores of an authenticated client: those of its owner if requests have owners.
   *
   * @throws CemError if the request does not identify its owner.
   */
  openClient(authInfo: AuthInfo | undefined): Promise<ServedClient>;
  /** Notifies the clients that watch a resource of an upstream server. */
  resourceUpdated(server: string, uri: string): void;
}
