import { SSEServerTransport } from "@modelcontextprotocol/server-legacy/sse";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { Servable } from "../agent-server.ts";
import { MAX_SESSIONS } from "../limits.ts";
import type { HttpTransport } from "./app.ts";
import { currentExchange } from "../exchange.ts";
import { rpcRefusal, tooLongIn } from "./checks.ts";
import { readJsonBody } from "./json-body.ts";
import { SSE_PATH, type HttpOptions } from "./options.ts";
import { refusalText, Sessions } from "./sessions.ts";

const MESSAGES_PATH = "/messages";

/** The legacy HTTP+SSE transport: one event stream per client for the server's messages, POSTs for the client's. */
export function openSse(server: Servable, { maxSessions = MAX_SESSIONS }: HttpOptions): HttpTransport {
  const sessions = new Sessions<SSEServerTransport>({
    capacity: maxSessions,
    close: (transport) => transport.close(),
  });
  return {
    path: SSE_PATH,
    sessions,
    route(app) {
      app.get(SSE_PATH, async ({ req, env: { outgoing }, get, notFound }) => {
        // Hono routes HEAD to GET handlers.
        if (req.method !== "GET") return notFound();
        const { quotaOwner, onClose } = currentExchange();
        const slot = sessions.reserve(quotaOwner);
        if (typeof slot === "string")
          return new Response(refusalText(slot, maxSessions, "streams"), { status: 503 });
        const transport = new SSEServerTransport(MESSAGES_PATH, outgoing);
        const { sessionId } = transport;
        slot.fill(sessionId, get("authInfo")?.clientId ?? "", transport);
        // The session ends with its stream, so it never counts as idle.
        sessions.hold(sessionId, "request");
        onClose(() => sessions.delete(sessionId));
        const connection = await server.factory({ era: "legacy" });
        await connection.connect(transport);
        return RESPONSE_ALREADY_SENT;
      });
      app.post(MESSAGES_PATH, readJsonBody, async ({ req, env: { incoming, outgoing }, get }) => {
        const authInfo = get("authInfo");
        const transport = sessions.get(req.query("sessionId") ?? "", authInfo?.clientId ?? "");
        if (transport === undefined) return new Response("Session not found", { status: 404 });
        const problem = tooLongIn(get("body"));
        if (problem !== undefined) return rpcRefusal(400, -32_600, `Bad Request: ${problem}`);
        // For the SDK, `null` means that the body was not read yet.
        const request = Object.assign(incoming, authInfo && { auth: authInfo });
        await transport.handlePostMessage(request, outgoing, get("body") ?? {});
        return RESPONSE_ALREADY_SENT;
      });
    },
    close: () => sessions.close(),
  };
}
