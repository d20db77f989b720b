import type { Config } from "@cem/config";
import { assertKnownOptions } from "@cem/core";
import type { Agent, ResultStore, StateStore } from "@cem/core";
import type { AgentServer, AnyCustomTool, Exposed, Profile } from "@cem/mcp-server";
import { nearest } from "@cem/core/text";
import { AGENT_OPTIONS } from "./agent-options.ts";
import type { AgentOptions } from "./agent-options.ts";

export interface ServerOptions extends AgentOptions {
  /** An agent of your own, which you warm and dispose. Default: one that the configuration sets up and the server disposes. */
  agent?: Agent | undefined;
  /** Your own tools beside the server's. Their handlers receive the agent and the configuration. */
  customTools?: readonly AnyCustomTool<Config>[] | undefined;
  /**
   * The set of tools that clients see.
   *
   * @defaultValue `server.profile` of the configuration
   */
  profile?: Profile | undefined;
  /**
   * What clients see of the configured MCP servers besides tools: their resources and prompts, under their names.
   *
   * @defaultValue `server.expose` of the configuration
   */
  expose?: readonly Exposed[] | undefined;
  /** Keeps state. Default: JSON files, as the configuration sets them up. */
  state?: StateStore | undefined;
  /** Keeps what is too large for an answer. Default: the folder `results` of the workspace. */
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
   * The port to listen on; 0 for any that is free.
   *
   * @defaultValue `server.port` of the configuration
   */
  port?: number | undefined;
  /** A server of your own, made by `createServer`. */
  server?: CemServer | undefined;
}

const SERVER_OPTIONS = {
  ...AGENT_OPTIONS,
  agent: true,
  customTools: true,
  profile: true,
  expose: true,
  state: true,
  results: true,
} satisfies Record<keyof ServerOptions, true>;

const RUN_SERVER_OPTIONS = {
  ...SERVER_OPTIONS,
  transport: true,
  host: true,
  port: true,
  server: true,
} satisfies Record<keyof RunServerOptions, true>;

/** @throws CemError `OPTION_INVALID` for an option that does not exist. */
export function assertServerOptions(options: ServerOptions): void {
  assertKnownOptions(options, SERVER_OPTIONS, "createServer", nearest);
}

/** @throws CemError `OPTION_INVALID` for an option that does not exist. */
export function assertRunServerOptions(options: RunServerOptions): void {
  assertKnownOptions(options, RUN_SERVER_OPTIONS, "runServer", nearest);
}

/** The options that an agent takes. */
export function agentOptionsOf(options: AgentOptions): AgentOptions {
  return Object.fromEntries(Object.entries(options).filter(([name]) => name in AGENT_OPTIONS));
}
