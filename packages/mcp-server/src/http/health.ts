import { setTimeout as sleep } from "node:timers/promises";
import { CemError, forClients, toErrorInfo, type Agent } from "@cem/core";
import type { Env as HonoEnv, Hono } from "hono";
import type { Registry } from "prom-client";
import type { Logger } from "../logger.ts";
import { textAnswer } from "./checks.ts";
import { listenForClients } from "./listen.ts";
import { answerMetrics } from "./metrics.ts";
import { bracketed } from "./options.ts";
import { TrustedProxies } from "./trusted-proxies.ts";

/** Reports whether runs can be executed. Throws the reason if they can't. */
export type Probe = () => Promise<ReadinessReport>;

/** The answer of `/readyz`. */
export interface ReadinessReport {
  /** The reason why the server is not ready. Absent if it is. */
  fault?: string | undefined;
  /** A limitation of a server that is ready. */
  lacks?: string | undefined;
}

/** The minimum interval between two probes after a failure. */
const RETRY_INTERVAL_MS = 5_000;
const PROBE_TIMEOUT_MS = 20_000;
/** Timeout of shared services: less than the timeout of orchestrators. */
const ANSWER_MS = 4_000;

/**
 * Probes by running a program, which also warms up the first guest: immediately, and again after a failure. What is shared
 * with other machines is then asked each time, and alone where workers execute the runs.
 *
 * @param refusal - Why a new client would be refused now, or `undefined`.
 */
export function createReadiness(
  { agent, probe }: { agent: Agent; probe?: Probe | undefined },
  logger: Logger,
  refusal: () => string | undefined,
) {
  let stopped = false;
  let ranAt = performance.now();
  // A running probe fails when the agent is disposed.
  const quietly = (one: Probe): Probe => logged(one, logger, () => stopped);
  const run = quietly(() => runProbe(agent));
  const ask = probe && quietly(inTime(probe));
  const runAnew = async (): Promise<ReadinessReport> => {
    ranAt = performance.now();
    const report = await run();
    if (report.fault === undefined) logger.info("ready");
    return report;
  };
  const areQueued = ask !== undefined && agent.rejoinRun !== undefined;
  let ran = areQueued ? Promise.resolve({} as ReadinessReport) : runAnew();
  return {
    async report(): Promise<ReadinessReport> {
      if (stopped) return { fault: "shutting down" };
      const refused = refusal();
      if (refused !== undefined) return { fault: refused };
      const isLate = (): boolean => performance.now() - ranAt >= RETRY_INTERVAL_MS;
      if ((await ran).fault !== undefined && isLate()) ran = runAnew();
      const report = await ran;
      return report.fault === undefined && ask !== undefined ? ask() : report;
    },
    /** Reports from now on that the server is shutting down. */
    stop: () => void (stopped = true),
  };
}

async function runProbe(agent: Agent): Promise<ReadinessReport> {
  const { status, error } = await agent.executeCode("return 1;", {
    record: false,
    signal: AbortSignal.timeout(PROBE_TIMEOUT_MS),
  });
  if (status === "success") return {};
  throw error === null ? new Error(status) : new CemError(error.code, error.message);
}

/** Adds a timeout to a probe, in case a queue or a store hangs. */
function inTime(probe: Probe): Probe {
  const late = async (): Promise<never> => {
    await sleep(ANSWER_MS, undefined, { ref: false });
    throw new Error(`The queue or the store did not answer within ${ANSWER_MS / 1_000} s.`);
  };
  return () => Promise.race([probe(), late()]);
}

/** Wraps a probe to log each fault once, and to report faults without addresses, since the endpoint needs no token. */
function logged(probe: Probe, logger: Logger, isQuiet: () => boolean = () => false): Probe {
  let last: string | undefined;
  return async () => {
    try {
      const report = await probe();
      last = undefined;
      return report;
    } catch (error) {
      const info = toErrorInfo(error);
      if (info.message !== last && !isQuiet()) logger.error({ fault: info.message }, "not ready");
      last = info.message;
      return { fault: forClients(info).message };
    }
  };
}

/** Settings of the health endpoints of a process that serves no clients. */
export interface HealthSettings {
  host: string;
  /** 0 for any free port. */
  port: number;
  /** Whether the process can work now. */
  report: Probe;
  logger: Logger;
  metrics: Registry;
}

/** The health endpoints of a process. */
export interface HealthServing {
  readonly url: string;
  close(): Promise<void>;
}

export function routeHealth<Env extends HonoEnv>(app: Hono<Env>, report: Probe): void {
  app.all("/healthz", () => textAnswer(200, "ok"));
  app.all("/readyz", async () => {
    const { fault, lacks } = await report();
    const ready = lacks === undefined ? "ready" : `ready; ${lacks}`;
    return textAnswer(fault === undefined ? 200 : 503, fault ?? ready);
  });
}

/**
 * Answers `/healthz`, `/readyz` and `/metrics`, and nothing else.
 *
 * @throws CemError `ADDRESS_UNUSABLE`
 */
export async function serveHealth(settings: HealthSettings): Promise<HealthServing> {
  const { host, port, report, logger, metrics } = settings;
  const [{ Hono }, { getRequestListener }] = await Promise.all([import("hono"), import("@hono/node-server")]);
  const app = new Hono();
  routeHealth(app, logged(inTime(report), logger));
  app.all("/metrics", () => answerMetrics(metrics));
  app.notFound(() => textAnswer(404, "There are /healthz, /readyz and /metrics."));
  app.onError((error) => textAnswer(500, CemError.isInstance(error) ? error.message : "It failed."));
  const { server, port: bound } = await listenForClients(host, port, new TrustedProxies([]));
  const listener = getRequestListener(app.fetch, { hostname: "localhost", overrideGlobalObjects: false });
  server.on("request", (request, response) => void listener(request, response));
  return {
    url: `http://${bracketed(host)}:${bound}`,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}
