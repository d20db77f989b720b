import { CemError } from "@cem/core";
import { listenForClients } from "./http-listen.ts";
import { bracketed } from "./http-options.ts";
import { createRouter, sendText } from "./http-routes.ts";
import type { Route } from "./http-routes.ts";

/** What a process without clients of its own answers its orchestrator. */
export interface HealthSettings {
  host: string;
  /** 0 for any that is free. */
  port: number;
  /** Why the process can't work now, or `undefined` when it can. */
  fault: () => Promise<string | undefined>;
}

/** Two addresses that answer: `/healthz` and `/readyz`. */
export interface HealthServing {
  readonly url: string;
  close(): Promise<void>;
}

/** The routes by which orchestrators see whether a process lives and works. */
export function healthRoutes(fault: HealthSettings["fault"]): Route[] {
  return [
    { path: "/healthz", checks: "none", handle: (_, response) => sendText(response, 200, "ok") },
    {
      path: "/readyz",
      checks: "none",
      handle: async (_, response) => {
        const found = await fault();
        sendText(response, found === undefined ? 200 : 503, found ?? "ready");
      },
    },
  ];
}

/**
 * Answers `/healthz` and `/readyz`, and nothing else.
 *
 * @throws CemError `ADDRESS_UNUSABLE`
 */
export async function serveHealth({ host, port, fault }: HealthSettings): Promise<HealthServing> {
  const { server, port: bound } = await listenForClients(host, port);
  const route = createRouter({
    routes: healthRoutes(fault),
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
