import { CemError } from "@cem/core";
import { createApi } from "./api.ts";
import { answerError } from "./api-status.ts";
import { describeApi } from "./openapi.ts";
import { PageFiles } from "./page-files.ts";
import type { ConsoleParts, ConsoleServer } from "./ports.ts";
import { RunBoard } from "./run-board.ts";

export interface ConsoleOptions<Identity> {
  /** What is kept, as a client may see it. Default: nothing is. */
  partsOf?: ((identity: Identity) => Promise<ConsoleParts>) | undefined;
  /** The folder of a built page. Default: that of this package. */
  pageFolder?: string | undefined;
}

/** A part of a server at paths of its own. A path that ends with `*` is the beginning of paths. */
export interface ConsoleMount<Identity> {
  path: string;
  /** `host`: the Host and Origin headers have to be checked. `token`: the authorization too. */
  checks: "host" | "token";
  fetch: (request: Request, identity: Identity) => Promise<Response>;
}

/**
 * A console for a server: a page at `/console` and the API that it uses, below `/api`. Only the API has data, so only it
 * needs the authorization. From now on the server's runs are kept for it.
 */
export function createConsole<Identity>(
  server: ConsoleServer<Identity>,
  { pageFolder, partsOf = async () => ({}) }: ConsoleOptions<Identity> = {},
): ConsoleMount<Identity>[] {
  const board = new RunBoard();
  server.runs.watch(board.watcherOf);
  const page = new PageFiles(pageFolder);
  const api = createApi();
  let description: string | undefined;
  const showPage = (request: Request): Promise<Response> => page.fetch(request);
  return [
    { path: "/console", checks: "host", fetch: showPage },
    { path: "/console/*", checks: "host", fetch: showPage },
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
      async fetch(request, identity) {
        try {
          const [client, parts] = await Promise.all([server.openClient(identity), partsOf(identity)]);
          const answer = await api.fetch(request, { client, board, parts });
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
