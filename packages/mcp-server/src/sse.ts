import type { ServerResponse } from "node:http";
import { SSEServerTransport } from "@modelcontextprotocol/server-legacy/sse";
import type { Servable } from "./create-server.ts";
import type { AuthenticatedRequest } from "./http-routes.ts";
import { MAX_SESSIONS } from "./limits.ts";
import { Sessions } from "./sessions.ts";

export const SSE_MESSAGES_PATH = "/messages";

/** The legacy HTTP+SSE transport: one event stream per client for the server's messages, POSTs for the client's. */
export interface SseServer {
  /** Open streams. */
  readonly sessions: number;
  /** Opens a client's stream. */
  open: (request: AuthenticatedRequest, response: ServerResponse) => Promise<void>;
  /** Takes a client's message. */
  receive: (request: AuthenticatedRequest, response: ServerResponse, url: URL) => Promise<void>;
  close: () => Promise<void>;
}

export function createSseServer(server: Servable, maxSessions: number = MAX_SESSIONS): SseServer {
  // A session ends with its stream, so none counts as idle.
  const sessions = new Sessions<SSEServerTransport>({
    capacity: maxSessions,
    close: (transport) => transport.close(),
    isBusy: () => true,
  });
  return {
    get sessions() {
      return sessions.size;
    },
    async open(request, response) {
      if (sessions.isFull) {
        response
          .writeHead(503)
          .end(`${maxSessions} streams are open, which is the maximum. Try again later.`);
        return;
      }
      const transport = new SSEServerTransport(SSE_MESSAGES_PATH, response);
      const { sessionId } = transport;
      sessions.add(sessionId, request.auth?.clientId ?? "", transport);
      response.once("close", () => sessions.delete(sessionId));
      const connection = await server.factory({ era: "legacy" });
      await connection.connect(transport);
    },
    async receive(request, response, url) {
      const id = url.searchParams.get("sessionId") ?? "";
      const transport = sessions.get(id, request.auth?.clientId ?? "");
      if (transport === undefined) {
        response.writeHead(404).end("Session not found");
        return;
      }
      await transport.handlePostMessage(request, response);
    },
    close: () => sessions.close(),
  };
}
