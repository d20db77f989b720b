import { existsSync } from "node:fs";
import type { Config } from "@cem/config";
import { assertKnownOptions, MS_PER_SECOND, toErrorInfo, type CemError } from "@cem/core";
import { hintForAgent } from "@cem/core/errors";
import { flushTelemetry, exportMetrics, observeQueue } from "@cem/core/telemetry";
import type * as McpServer from "@cem/mcp-server";
import type { AuthSettings, Serving } from "@cem/mcp-server";
import type { ConsoleParts } from "@cem/mcp-server/console";
import { createLoadedAgent } from "./create-agent.ts";
import { SERVER_OPTIONS } from "./options.ts";
import type { CemServer, RunServerOptions, ServerOptions, TransportName } from "./options.ts";
import { lazyHost } from "./wiring/calls/tool-host.ts";
import { authOf, findHeldAuthorization } from "./wiring/http/clients.ts";
import { consolePartsOf, recordQueue, type Identity } from "./wiring/http/console-parts.ts";
import { loggerOf, logTo, logWarnings, type Log } from "./wiring/log.ts";
import { openProject } from "./wiring/open-project.ts";
import { openRequestHosts } from "./wiring/customers/request-hosts.ts";
import { redactorOf } from "./wiring/privacy/redaction.ts";
import { inspectVaults } from "./wiring/privacy/vaults.ts";
import { withoutPool, type Project } from "./wiring/project.ts";
import { createConfiguredState, createServedResults } from "./wiring/records/workspace.ts";
import { guestFactsOf } from "./wiring/sandbox/sandboxes.ts";
import { tellChanges, upstreamOf } from "./wiring/servers/upstream.ts";
import { shareSkills } from "./wiring/shared/files.ts";
import { openConfiguredReplicas, openConfiguredQueue, probeShared } from "./wiring/shared/queue.ts";
import { probeStore, reportUnreachable } from "./wiring/shared/store.ts";
import { createConfiguredSkills } from "./wiring/skills.ts";
import { createWorkflowTools } from "./wiring/workflows/workflow-tools.ts";
import { startWorkThreads } from "./work-threads/work-threads.ts";

/** The parts of a server's set-up that are needed to serve over HTTP. */
interface SetUp {
  /** Set when it can't serve over HTTP because the authorization that its folder configures is held back. */
  obstacle: CemError | undefined;
  /** Opens what the console shows a client: records, sessions, workflows, customers and the queue. Absent for a given agent. */
  openConsole?: (() => (identity: Identity) => Promise<ConsoleParts>) | undefined;
}

const setUps = new WeakMap<CemServer, SetUp>();

/**
 * Creates an MCP server from the configuration. Its own agent is warmed in the background to speed up the first call, which
 * also reports any failure of the warm-up.
 *
 * @throws CemError `OPTION_INVALID`, `CONFIG_INVALID`, `CONFIG_NOT_FOUND`, `TOOL_INVALID` or `TOOL_NAME_TAKEN`.
 */
export async function createServer(options: ServerOptions = {}): Promise<CemServer> {
  assertKnownOptions(options, SERVER_OPTIONS, "createServer");
  const { agent: given, customTools, profile, expose, state, results, ...ofAgent } = options;
  const logBy = async (config: Config): Promise<Log> => options.log ?? logTo(await loggerOf(config));
  // A given agent brings its own sandbox, MCP servers, queue, replicas and owners.
  const isOwn = given === undefined;
  const loaded = await openProject(ofAgent, isOwn && options.records !== false ? logBy : undefined);
  const { config, store } = loaded;
  const { createAgentServer, currentQuotaOwner } = await loadServer();
  const log = await logBy(config);
  logWarnings(loaded, log);
  if (isOwn) warnOfNoTools(loaded, ofAgent, log);
  const redactor = options.redactor ?? (isOwn ? await redactorOf(loaded, options)?.get() : undefined);
  const agentOptions = { ...ofAgent, redactor, log };
  const queue = isOwn ? await openConfiguredQueue(config) : undefined;
  const replicas = queue && (await openConfiguredReplicas(config));
  const runs = {
    openAgent: createLoadedAgent,
    queue,
    onGone: (quotaOwner: string) => server.runs.forgetOf(quotaOwner),
  };
  const requestHosts = isOwn ? await openRequestHosts(loaded, agentOptions, { ...runs, expose }) : undefined;
  const host = lazyHost(loaded, agentOptions);
  // Runs are executed by workers, or by the agents of their owners with separate guests.
  const isElsewhere = requestHosts !== undefined || queue !== undefined;
  const local = given ?? createLoadedAgent(isElsewhere ? withoutPool(loaded) : loaded, agentOptions, host);
  const agent = queue?.agent(local, loaded.owner) ?? local;
  const workflows = createWorkflowTools(loaded, agentOptions, { agent, openAgent: createLoadedAgent, host });
  const server: CemServer = createAgentServer<Config>({
    agent,
    workflows: await workflows.list(),
    runWorkflow: workflows.run,
    config,
    profile: profile ?? config.server.profile,
    clientTrace: config.server.clientTrace === "auto" ? undefined : config.server.clientTrace,
    yieldAfterMs: config.server.yieldAfter * MS_PER_SECOND,
    customTools,
    results: results ?? (await createServedResults(loaded)),
    state: state ?? (await createConfiguredState(loaded)),
    skills: shareSkills(await createConfiguredSkills(loaded), loaded.sync),
    openOwner: requestHosts?.get,
    redactor,
    replicas,
    probe: isOwn ? () => probeShared(queue, loaded) : undefined,
    guest: isOwn ? guestFactsOf(config) : {},
    hintFor: hintForAgent,
    upstream: isOwn && requestHosts === undefined ? upstreamOf(loaded, host, redactor) : undefined,
    expose: expose ?? config.server.expose,
    onMissing: (name, error) =>
      log("warning", `What server "${name}" has is missing from a list: ${toErrorInfo(error).message}`),
  });
  let queueHistory: ReturnType<typeof recordQueue> | undefined;
  let stopObserving: (() => void) | undefined;
  const openConsole: SetUp["openConsole"] = () => {
    queueHistory = queue && recordQueue(queue);
    return async (identity) => {
      const parts = (await requestHosts?.getFor(identity)) ?? { project: loaded, workflows };
      return consolePartsOf({ ...parts, identity, queue: queueHistory });
    };
  };
  setUps.set(server, {
    obstacle: await findHeldAuthorization(loaded),
    openConsole: isOwn ? openConsole : undefined,
  });
  const threads = startWorkThreads(currentQuotaOwner);
  if (isOwn) {
    if (requestHosts === undefined) tellChanges(server, host, log).catch(() => {});
    agent.warm().catch(() => {});
    if (queue !== undefined) void reportUnreachable(() => queue.counts(), log);
    if (store !== undefined) void reportUnreachable(async () => probeStore(await store.get()), log);
    else if (config.privacy.vault === "disk") void reportUnreachable(() => inspectVaults(config), log);
    // Gauges are exported before the first run.
    exportMetrics();
    stopObserving = queue && observeQueue(() => queue.load());
  }
  const close = server.close.bind(server);
  return Object.assign(server, {
    close: async (graceMs?: number) => {
      await close(graceMs);
      await flushTelemetry();
      stopObserving?.();
      queueHistory?.stop();
      await requestHosts?.dispose();
      await workflows.dispose();
      if (isOwn) await agent.dispose();
      await threads.close();
      await replicas?.close();
      await queue?.close();
      if (options.redactor === undefined) await redactor?.dispose();
      await loaded[Symbol.asyncDispose]();
    },
  });
}

/** Many clients start a server in a folder of their own, where there is nothing to serve. */
function warnOfNoTools(
  { file, folder, config: { mcpServers, execution } }: Project,
  { tools, plugins }: Pick<ServerOptions, "tools" | "plugins">,
  log: Log,
): void {
  const isGiven = file !== undefined || mcpServers.length > 0 || tools !== undefined || plugins !== undefined;
  if (isGiven || existsSync(execution.serversDir)) return;
  const help = "Name your project's with --config or CEM_CONFIG.";
  log("warning", `There is no config.yaml in ${folder}, so code finds no tools. ${help}`);
}

/** A running server. Over HTTP, `close` gives calls in progress `server.shutdown_grace` to finish. */
export interface RunningServer {
  readonly server: CemServer;
  /** Where clients connect. Absent over stdio. */
  readonly url?: string | undefined;
  /** Resolves when the server has stopped: it was closed, or over stdio the client disconnected. */
  readonly closed: Promise<void>;
  close(graceMs?: number): Promise<void>;
}

/**
 * Serves until it is closed.
 *
 * @throws CemError as `createServer`, and `ADDRESS_REFUSED`, `ADDRESS_UNUSABLE` or `AUTH_INVALID`; `FOLDER_UNTRUSTED` over
 *   HTTP if the authorization of clients is held back.
 */
export async function runServer(options: RunServerOptions = {}): Promise<RunningServer> {
  const { transport = "stdio", host, port, server: given, ...serverOptions } = options;
  assertKnownOptions(serverOptions, SERVER_OPTIONS, "runServer");
  const server = given ?? (await createServer(serverOptions));
  const { config } = server;
  // Over stdio the only client is the one that ends the process, so there is nothing to wait for.
  const graceMs = transport === "stdio" ? 0 : config.server.shutdownGrace * MS_PER_SECOND;
  try {
    const serving = await serve(transport, server, { host, port });
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
  { host, port }: Pick<RunServerOptions, "host" | "port">,
): Promise<Serving & { url?: string | undefined }> {
  const { config } = server;
  const { serveHttp, serveStdio } = await loadServer();
  const logger = await loggerOf(config);
  if (transport === "stdio") {
    logger.info("serving over stdio");
    return serveStdio(server, { onError: (error) => logger.warn({ error: error.message }, "protocol") });
  }
  const { obstacle, openConsole } = setUps.get(server) ?? {};
  if (obstacle !== undefined) throw obstacle;
  const { allowedHosts, allowedOrigins, publicUrl, trustedProxies } = config.server;
  const auth = authOf(config);
  const hasConsole = config.server.console && transport === "http";
  const serving = await serveHttp(server, {
    mounts: hasConsole
      ? (await import("@cem/mcp-server/console")).createConsole(server, { partsOf: openConsole?.() })
      : [],
    transport,
    host: host ?? config.server.host,
    port: port ?? config.server.port,
    allowedHosts,
    allowedOrigins,
    logger,
    auth,
    ownerHeader: config.customers.header,
    trustedProxies,
    publicUrl,
  });
  const { url, page, address, reach } = serving;
  logger.info({ url, console: page, address, auth: describeAuth(auth) }, `listening ${REACHES[reach]}`);
  return serving;
}

/** Loaded on first use, since running tasks does not need it. */
function loadServer(): Promise<typeof McpServer> {
  return import("@cem/mcp-server");
}

const REACHES = {
  loopback: "on this machine's loopback",
  address: "where other machines can reach it",
  every: "on every address of this machine",
} as const;

function describeAuth(auth: AuthSettings | undefined): string {
  if (auth === undefined) return "none";
  return "token" in auth ? "token" : `tokens of ${auth.issuer}`;
}
