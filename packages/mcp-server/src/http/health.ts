import { CemError, toErrorInfo } from "@cem/core";
import type { Agent } from "@cem/core";
import type { Env as HonoEnv, Hono } from "hono";
import type { Registry } from "prom-client";
import type { Logger } from "../logger.ts";
import { textAnswer } from "./checks.ts";
import { listenForClients } from "./listen.ts";
import { answerMetrics } from "./metrics.ts";
import { bracketed } from "./options.ts";
import { TrustedProxies } from "./trusted-proxies.ts";

/** Reports whether runs can be executed. */
export type Probe = () => Promise<ReadinessReport>;

/** The answer of `/readyz`. */
export interface ReadinessReport {
  /** The reason why the server is not ready. Absent when it is. */
  fault?: string | undefined;
  /** A limitation of a server that is ready. */
  lacks?: string | undefined;
}

/** Whether the server can run code. */
export interface Readiness {
  report(): Promise<ReadinessReport>;
  /** Reports from now on that the server is shutting down. */
  stop(): void;
}

/** The minimum interval between two probes after a failure. */
const RETRY_INTERVAL_MS = 5_000;
const PROBE_TIMEOUT_MS = 20_000;

/**
 * Probes by running a program, which also warms up the first guest: at once, and again after a failure.
 *
 * @param refusal - Why a new client would be refused now, or `undefined`.
 */
export function createReadiness(
  { agent, probe: given }: { agent: Agent; probe?: Probe | undefined },
  logger: Logger,
  refusal: () => string | undefined,
): Readiness {
  let stopped = false;
  let probedAt = performance.now();
  const probe = async (): Promise<string | undefined> => {
    probedAt = performance.now();
    const fault = await runProbe(agent);
    if (fault === undefined) logger.info("ready");
    else if (!stopped) logger.error({ fault }, "not ready");
    return fault;
  };
  let last = given === undefined ? probe() : Promise.resolve(undefined);
  return {
    async report() {
      if (stopped) return { fault: "shutting down" };
      const refused = refusal();
      if (refused !== undefined) return { fault: refused };
      if (given !== undefined) return given();
      const fault = await last;
      if (fault === undefined || performance.now() - probedAt < RETRY_INTERVAL_MS) return { fault };
      last = probe();
      return { fault: await last };
    },
    stop: () => (stopped = true),
  };
}

async function runProbe(agent: Agent): Promise<string | undefined> {
  try {
    const { status, error } = await agent.executeCode("return 1;", {
      record: false,
      signal: AbortSignal.timeout(PROBE_TIMEOUT_MS),
    });
    return status === "success" ? undefined : (error?.message ?? status);
  } catch (error) {
    return toErrorInfo(error).message;
  }
}

/** Settings of the health endpoints of a process that serves no clients. */
export interface HealthSettings {
  host: string;
  /** 0 for any that is free. */
  port: number;
  /** Whether the process can work now. */
  report: Probe;
  metrics: Registry;
}

/** The health endpoints of a process. */
export interface HealthServing {
  readonly url: string;
  close(): Promise<void>;
}

/** Adds the routes by which orchestrators see whether a process is alive and whether it can work. */
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
export async function serveHealth({ host, port, report, metrics }: HealthSettings): Promise<HealthServing> {
  const [{ Hono }, { getRequestListener }] = await Promise.all([import("hono"), import("@hono/node-server")]);
  const app = new Hono();
  routeHealth(app, report);
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
