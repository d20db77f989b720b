import { assertKnownOptions, MS_PER_SECOND } from "@cem/core";
import { flushTelemetry, exportMetrics, observeQueue } from "@cem/core/telemetry";
import type { ReadinessReport } from "@cem/mcp-server";
import type { QueueWorker } from "@cem/queue";
import { createLoadedAgent } from "./create-agent.ts";
import { AGENT_OPTIONS, type AgentOptions } from "./options.ts";
import { loggerOf, logTo, logWarnings } from "./wiring/log.ts";
import { openProject } from "./wiring/open-project.ts";
import { openWorkerAgents } from "./wiring/customers/request-hosts.ts";
import { inspectVaults } from "./wiring/privacy/vaults.ts";
import { probeShared, requireQueueConnection } from "./wiring/shared/queue.ts";
import { probeStore, reportUnreachable } from "./wiring/shared/store.ts";
import { startWorkThreads } from "./work-threads/work-threads.ts";

/** Options of {@link runWorker}: those of an agent. They must match the server's. */
export interface WorkerOptions extends AgentOptions {
  /**
   * The port that answers `/healthz`, `/readyz` and `/metrics`; 0 for any free port.
   *
   * @defaultValue `queue.worker_port` of the configuration, else none
   */
  port?: number | undefined;
  /** The worker's name in logs. Default: the host name and the process id. */
  name?: string | undefined;
}

/** A worker that takes runs from the queue. */
export interface RunningWorker {
  readonly name: string;
  /** The base URL of `/healthz`, `/readyz` and `/metrics`. Absent without a port. */
  readonly url?: string | undefined;
  /** Stops taking runs, gives those in progress `queue.drain_grace` to finish, and frees its resources. */
  close(): Promise<void>;
}

/**
 * Executes runs from the configured queue until it is closed. Each owner of runs has its own agent, which is disposed when idle.
 *
 * @throws CemError `OPTION_INVALID`, `CONFIG_INVALID`, `FOLDER_UNTRUSTED`, `STORE_UNAVAILABLE` or `ADDRESS_UNUSABLE`.
 */
export async function runWorker(options: WorkerOptions = {}): Promise<RunningWorker> {
  const { port: givenPort, name: givenName, ...agentOptions } = options;
  assertKnownOptions(agentOptions, AGENT_OPTIONS, "runWorker");
  const loaded = await openProject(
    agentOptions,
    options.records === false ? undefined : async (config) => options.log ?? logTo(await loggerOf(config)),
  );
  const { config } = loaded;
  const connection = await requireQueueConnection(loaded);
  const [{ createRunQueue, startQueueWorker }, { openMetrics, serveHealth }] = await Promise.all([
    import("@cem/queue"),
    import("@cem/mcp-server"),
  ]);
  const logger = await loggerOf(config);
  const log = options.log ?? logTo(logger);
  logWarnings(loaded, log);
  const queue = createRunQueue(connection);
  const threads = startWorkThreads();
  const agents = await openWorkerAgents(loaded, { ...agentOptions, log }, createLoadedAgent);
  // Gauges are exported before the first run.
  exportMetrics();
  const stopObserving = observeQueue(() => queue.load());
  const release = async (): Promise<void> => {
    stopObserving();
    await agents.dispose();
    await threads.close();
    await queue.close();
    await loaded[Symbol.asyncDispose]();
  };
  let worker: QueueWorker | undefined;
  try {
    // Fails at once on a broken set-up, where a running worker would wait for the queue to come back.
    await queue.counts();
    if (loaded.store !== undefined) await probeStore(await loaded.store.get());
    else if (config.privacy.vault === "disk") void reportUnreachable(() => inspectVaults(config), log);
    const { enabled, sandboxReuse } = config.optimizations;
    const concurrency = Math.min(config.queue.concurrency, config.customers.maxOpen);
    const metrics = openMetrics();
    worker = await startQueueWorker({
      ...connection,
      agentFor: (owner, incarnation) => agents.get(owner, incarnation),
      concurrency,
      lostAfterMs: config.queue.lostAfter * MS_PER_SECOND,
      keepsGuests: enabled && sandboxReuse === "session",
      drainMs: config.queue.drainGrace * MS_PER_SECOND,
      name: givenName,
      onProblem: (error) => log("warning", `The queue: ${error.message}`),
    });
    const { name } = worker;
    let isStopped = false;
    const report = async (): Promise<ReadinessReport> => {
      if (isStopped) return { fault: "shutting down" };
      await probeShared(queue, loaded);
      return {};
    };
    const port = givenPort ?? config.queue.workerPort;
    const settings = { host: config.server.host, report, logger, metrics: metrics.registry };
    const health = port === undefined ? undefined : await serveHealth({ ...settings, port });
    logger.info({ worker: name, concurrency, url: health?.url }, "taking runs");
    const close = async (): Promise<void> => {
      isStopped = true;
      logger.info({ worker: name }, "finishing");
      await worker?.close();
      await flushTelemetry();
      await release();
      await health?.close();
      metrics.close();
    };
    let closing: Promise<void> | undefined;
    return { name, url: health?.url, close: () => (closing ??= close()) };
  } catch (error) {
    await worker?.close();
    await release();
    throw error;
  }
}
