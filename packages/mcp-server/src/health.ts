import { CemError } from "@cem/core";
import { listenForClients } from "./http-listen.ts";
import { TrustedProxies } from "./trusted-proxies.ts";
import { bracketed } from "./http-options.ts";
import { createRouter, sendText } from "./http-routes.ts";
import type { Route } from "./http-routes.ts";
import type { Probe } from "./readiness.ts";

/** What a process without clients of its own answers its orchestrator. */
export interface HealthSettings {
  host: string;
  /** 0 for any that is free. */
  port: number;
  /** Whether the process can work now. */
  report: Probe;
}

/** Two addresses that answer: `/healthz` and `/readyz`. */
export interface HealthServing {
  readonly url: string;
  close(): Promise<void>;
}

/** The routes by which orchestrators see whether a process lives and works. */
export function healthRoutes(report: Probe): Route[] {
  return [
    { path: "/healthz", checks: "none", handle: (_, response) => sendText(response, 200, "ok") },
    {
      path: "/readyz",
      checks: "none",
      handle: async (_, response) => {
        const { fault, lacks } = await report();
        const ready = lacks === undefined ? "ready" : `ready; ${lacks}`;
        sendText(response, fault === undefined ? 200 : 503, fault ?? ready);
      },
    },
  ];
}

/**
 * Answers `/healthz` and `/readyz`, and nothing else.
 *
 * @throws CemError `ADDRESS_UNUSABLE`
 */
export async function serveHealth({ host, port, report }: HealthSettings): Promise<HealthServing> {
  const { server, port: bound } = await listenForClients(host, port, new TrustedProxies([]));
  const route = createRouter({
    routes: healthRoutes(report),
    notFound: "There are /healthz and /readyz.",
    hosts: [],
    origins: [],
    pages: [],
    authenticator: undefined,
  });
  server.on("request", (request, response) => {
    route(request, response).catch((error: unknown) => {
      sendText(response, 500, CemError.isInstance(error) ? error.message : "It failed.");
    });
  });
  return {
    url: `http://${bracketed(host)}:${bound}`,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}
