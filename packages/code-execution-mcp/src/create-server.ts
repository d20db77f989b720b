import type { Config } from "@cem/config";
import { CemError } from "@cem/core";
import type { Agent, ResultStore, StateStore } from "@cem/core";
import type * as McpServer from "@cem/mcp-server";
import type {
  AgentServer,
  AnyCustomTool,
  AuthSettings,
  HttpOptions,
  Logger,
  Profile,
  Serving,
} from "@cem/mcp-server";
import { createResultStore, createStateStore } from "@cem/workspace";
import type { AgentOptions } from "./agent-options.ts";
import { createAgent } from "./create-agent.ts";
import { loadFrom } from "./load.ts";
import type { Log } from "./log.ts";
import { makeFolder } from "./make-folder.ts";

const MS_PER_SECOND = 1_000;

export interface ServerOptions extends AgentOptions {
  /** An agent of your own, which you dispose. Default: one as the configuration wants it, which the server disposes. */
  agent?: Agent | undefined;
  /** Tools of your own beside the server's; their handlers are given the agent and the configuration. */
  customTools?: readonly AnyCustomTool<Config>[] | undefined;
  /** Which tools clients see. Default: `server.profile`. */
  profile?: Profile | undefined;
  state?: StateStore | undefined;
  /** Where what is too large for an answer is kept. Default: `results` in the workspace. */
  results?: ResultStore | undefined;
}

/** The MCP server of an agent, not listening yet: `runServer` serves it. */
export type CemServer = AgentServer<Config>;

/**
 * Makes an MCP server, as the configuration wants it.
 *
 * @throws CemError `CONFIG_INVALID`, `CONFIG_NOT_FOUND` or `TOOL_NAME_TAKEN`.
 */
export async function createServer(options: ServerOptions = {}): Promise<CemServer> {
  const { config } = await loadFrom(options);
  const { createAgentServer } = await loadServer();
  const agent = options.agent ?? createAgent({ log: logWith(await loggerOf(config)), ...options });
  const results = options.results ?? createResultStore({ workspaceDir: config.execution.workspaceDir });
  const state = options.state ?? (await createConfiguredState(config));
  const server: CemServer = createAgentServer<Config>({
    agent,
    config,
    profile: options.profile ?? config.server.profile,
    yieldAfterMs: config.server.yieldAfter * MS_PER_SECOND,
    customTools: options.customTools ?? [],
    results,
    ...(state && { state }),
  });
  if (options.agent !== undefined) return server;
  const close = server.close.bind(server);
  return Object.assign(server, {
    close: async (graceMs?: number) => {
      await close(graceMs);
      await agent.dispose();
    },
  });
}

export type TransportName = "stdio" | "http" | "sse";

export interface RunServerOptions extends ServerOptions {
  /** Default: `stdio`. */
  transport?: TransportName | undefined;
  /** For `http` and `sse`. Default: `server.host`. */
  host?: string | undefined;
  /** Default: `server.port`. */
  port?: number | undefined;
  /** A server of your own, made by `createServer`. */
  server?: CemServer | undefined;
}

/** A server that serves. Over HTTP `close` gives calls under way `server.shutdown_grace` to finish. */
export interface RunningServer {
  readonly server: CemServer;
  /** Where clients connect; absent over stdio. */
  readonly url?: string | undefined;
  /** Resolves once nothing is served any more: it was closed, or over stdio the client went away. */
  readonly closed: Promise<void>;
  close(graceMs?: number): Promise<void>;
}

/**
 * Serves until it is closed.
 *
 * @throws CemError as `createServer`, and `ADDRESS_REFUSED`, `AUTH_INVALID` or `ADDRESS_UNUSABLE`.
 */
export async function runServer(options: RunServerOptions = {}): Promise<RunningServer> {
  const { transport = "stdio" } = options;
  const server = options.server ?? (await createServer(options));
  const { config } = server;
  // Over stdio nobody is left to wait for: who stops the process is its only client.
  const graceMs = transport === "stdio" ? 0 : config.server.shutdownGrace * MS_PER_SECOND;
  try {
    const serving = await serve(transport, server, options);
    const close = (ms: number = graceMs): Promise<void> => serving.close(ms);
    return { ...serving, server, close };
  } catch (error) {
    await server.close();
    throw error;
  }
}

async function serve(
  transport: TransportName,
  server: CemServer,
  options: RunServerOptions,
): Promise<Serving & { url?: string | undefined }> {
  const { config } = server;
  const { serveHttp, serveStdio } = await loadServer();
  const logger = await loggerOf(config);
  if (transport === "stdio") {
    return serveStdio(server, { onError: (error) => logger.warn({ error: error.message }, "protocol") });
  }
  const { allowedHosts, allowedOrigins, publicUrl } = config.server;
  const auth = authOf(config);
  const http: HttpOptions = {
    transport,
    host: options.host ?? config.server.host,
    port: options.port ?? config.server.port,
    allowedHosts,
    allowedOrigins,
    logger,
    ...(auth && { auth }),
    ...(publicUrl !== undefined && { publicUrl }),
  };
  const serving = await serveHttp(server, http);
  logger.info({ url: serving.url, auth: authInWords(auth) }, "listening");
  return serving;
}

/** Loaded here: who only runs tasks should not wait for it. */
function loadServer(): Promise<typeof McpServer> {
  return import("@cem/mcp-server");
}

async function loggerOf({ logging: { level, file } }: Config): Promise<Logger> {
  const { createLogger } = await loadServer();
  return createLogger({ level, ...(file !== undefined && { file }) });
}

/** What an agent logs, among what its server does. */
function logWith(logger: Logger): Log {
  const methods = {
    debug: "debug",
    info: "info",
    warning: "warn",
    error: "error",
    critical: "fatal",
  } as const;
  return (level, message) => logger[methods[level]]({ message }, "upstream");
}

/** @throws CemError `AUTH_INVALID` where two ways are set at once. */
function authOf({ server }: Config): AuthSettings | undefined {
  const { authToken, authIssuer, authAudience, authJwksUrl, authScopes } = server;
  if (authToken !== undefined && authIssuer !== undefined) {
    throw new CemError(
      "AUTH_INVALID",
      "server.auth_token and server.auth_issuer are both set. Set one of them.",
    );
  }
  if (authToken !== undefined) return { token: authToken.reveal() };
  if (authIssuer === undefined) return undefined;
  return {
    issuer: authIssuer,
    scopes: authScopes,
    ...(authAudience !== undefined && { audience: authAudience }),
    ...(authJwksUrl !== undefined && { jwksUrl: authJwksUrl }),
  };
}

function authInWords(auth: AuthSettings | undefined): string {
  if (auth === undefined) return "none";
  return "token" in auth ? "token" : `tokens of ${auth.issuer}`;
}

async function createConfiguredState({ execution: { state } }: Config): Promise<StateStore | undefined> {
  if (!state.enabled) return undefined;
  await makeFolder(state.workspaceDir);
  return createStateStore({ workspaceDir: state.workspaceDir, stateFile: state.stateFile });
}
