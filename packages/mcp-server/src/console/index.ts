import { CemError } from "@cem/core";
import type { AuthInfo } from "@modelcontextprotocol/server";
import type { AgentServer } from "../agent-server.ts";
import type { HttpMount } from "../http/options.ts";
import { answerError, errorAnswer, type ConsoleParts } from "./api-route.ts";
import { createApi, describeApi } from "./api.ts";
import { createPage } from "./page-files.ts";
import { RunBoard } from "./run-board.ts";

export type { ConsoleParts } from "./api-route.ts";

export interface ConsoleOptions {
  /** Opens the stored records that a client may see. Default: the console shows none. */
  partsOf?: ((client: AuthInfo | undefined) => Promise<ConsoleParts>) | undefined;
}

/**
 * A console for a server: a page at `/console` and the API that it uses, below `/api`. Only the API returns data, so only
 * it requires authorization. From now on, the server's runs are recorded for it.
 */
export function createConsole(
  server: Pick<AgentServer, "runs" | "openClient">,
  { partsOf = async () => ({}) }: ConsoleOptions = {},
): HttpMount[] {
  const board = new RunBoard();
  server.runs.watch(board.watcherOf, (audience) => board.forget(audience));
  const api = createApi();
  let description: string | undefined;
  return [
    { path: "/console/*", checks: "host", fetch: createPage(), landing: "./console/" },
    {
      path: "/api/openapi.json",
      checks: "token",
      fetch: async () => {
        description ??= JSON.stringify(describeApi());
        return new Response(description, { headers: { "content-type": "application/json" } });
      },
    },
    {
      path: "/api/v1/*",
      checks: "token",
      refuse: (status, message) =>
        errorAnswer(status, status === 413 ? "INPUT_TOO_LARGE" : "OPTION_INVALID", message),
      async fetch(request, { authInfo, body }) {
        try {
          const [client, parts] = await Promise.all([server.openClient(authInfo), partsOf(authInfo)]);
          const answer = await api.fetch(request, { client, board, parts, body });
          answer.headers.set("cache-control", "no-store");
          answer.headers.set("x-content-type-options", "nosniff");
          return answer;
        } catch (error) {
          if (!CemError.isInstance(error)) throw error;
          return answerError(error);
        }
      },
    },
  ];
}
