import type { ServerResponse } from "node:http";
import { SSEServerTransport } from "@modelcontextprotocol/server-legacy/sse";
import type { Servable } from "./agent-server.ts";
import { payerOf } from "./http-exchange.ts";
import type { AuthenticatedRequest, Route } from "./http-routes.ts";
import { MAX_SESSIONS } from "./limits.ts";
import { refusalText, Sessions } from "./sessions.ts";

export const SSE_MESSAGES_PATH = "/messages";

/** The legacy HTTP+SSE transport: one event stream per client for the server's messages, POSTs for the client's. */
export interface SseServer {
  /** Open streams. */
  readonly sessions: number;
  /** Whether a new client would be refused. */
  readonly isFull: boolean;
  /** Opens a client's stream. */
  open: (request: AuthenticatedRequest, response: ServerResponse) => Promise<void>;
  /** Takes a client's message. */
  receive: Route["handle"];
  close: () => Promise<void>;
}

export function createSseServer(server: Servable, maxSessions: number = MAX_SESSIONS): SseServer {
  const sessions = new Sessions<SSEServerTransport>({
    capacity: maxSessions,
    close: (transport) => transport.close(),
  });
  return {
    get sessions() {
      return sessions.size;
    },
    get isFull() {
      return sessions.isFull;
    },
    async open(request, response) {
      const seat = sessions.take(payerOf(request));
      if (typeof seat === "string") {
        response.writeHead(503).end(refusalText(seat, maxSessions, "streams"));
        return;
      }
      const transport = new SSEServerTransport(SSE_MESSAGES_PATH, response);
      const { sessionId } = transport;
      seat.fill(sessionId, request.auth?.clientId ?? "", transport);
      // The session ends with its stream, so it never counts as idle.
      sessions.hold(sessionId, "request");
      response.once("close", () => sessions.delete(sessionId));
      const connection = await server.factory({ era: "legacy" });
      await connection.connect(transport);
    },
    async receive(request, response, url, body) {
      const id = url.searchParams.get("sessionId") ?? "";
      const transport = sessions.get(id, request.auth?.clientId ?? "");
      if (transport === undefined) {
        response.writeHead(404).end("Session not found");
        return;
      }
      // For the SDK `null` is a body that is still to be read.
      await transport.handlePostMessage(request, response, body ?? {});
    },
    close: () => sessions.close(),
  };
}
