import { randomUUID } from "node:crypto";
import {
  createMcpHandler,
  isInitializeRequest,
  isJSONRPCRequest,
  isLegacyRequest,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import type { McpHandlerRequestOptions } from "@modelcontextprotocol/server";
import type { Servable } from "../agent-server.ts";
import { MAX_BATCH_MESSAGES, MAX_BODY_BYTES, MAX_SESSIONS } from "../limits.ts";
import type { Logger } from "../logger.ts";
import { idAtReplica } from "../runs/run.ts";
import { endWithToken, rpcRefusal, tooLongIn } from "./checks.ts";
import type { HttpTransport } from "./app.ts";
import { currentExchange } from "../exchange.ts";
import { answerForwarded, forwardToOwner, type HandleRequest } from "./forward-to-owner.ts";
import { readJsonBody } from "./json-body.ts";
import { LegacySession } from "./legacy-session.ts";
import { MCP_PATH, type HttpOptions } from "./options.ts";
import { refusalText, Sessions } from "./sessions.ts";

const INITIALIZE_INCOMPLETE =
  "Invalid params: initialize takes protocolVersion (text), capabilities (an object) and clientInfo with name and version";
const BODY_LIMIT = { maxRequestBodySize: MAX_BODY_BYTES };

/** Streamable HTTP for both generations of the protocol: 2026-07-28 without sessions, older ones with sessions. */
export function openStreamableHttp(
  server: Servable,
  { maxSessions = MAX_SESSIONS, sessionIdleMs }: HttpOptions,
  logger: Logger,
): HttpTransport {
  const onError = (error: Error): void => logger.debug({ error: error.message }, "protocol");
  const modern = createMcpHandler(server.factory, { ...BODY_LIMIT, legacy: "reject", onerror: onError });
  server.onListChanged((list) => modern.notify[`${list}Changed`]());
  const sessions = new Sessions<LegacySession>({
    capacity: maxSessions,
    close: (session) => session.transport.close(),
    idleMs: sessionIdleMs,
  });

  const legacy = async (request: Request, fetchOptions: McpHandlerRequestOptions): Promise<Response> => {
    const owner = fetchOptions.authInfo?.clientId ?? "";
    const exchange = currentExchange();
    const id = request.headers.get("mcp-session-id");
    const messages = messagesOf(fetchOptions.parsedBody);
    if (id !== null) {
      const session = sessions.get(id, owner);
      if (session === undefined) return rpcRefusal(404, -32_001, "Session not found");
      exchange.onClose(sessions.hold(id, request.method === "GET" ? "stream" : "request"));
      if (messages.some((message) => isJSONRPCRequest(message) && message.method === "tools/call")) {
        sessions.markWorked(id);
      }
      return session.handle(request, messages, fetchOptions);
    }
    if (!messages.some((message) => isInitializeRequest(message))) {
      const given = messages.find((message) => isJSONRPCRequest(message) && message.method === "initialize");
      if (isJSONRPCRequest(given)) {
        const error = { code: -32_602, message: INITIALIZE_INCOMPLETE };
        return Response.json({ jsonrpc: "2.0", id: given.id, error }, { status: 400 });
      }
      // The SDK refuses requests that need a session but name none.
      const settings = { ...BODY_LIMIT, sessionIdGenerator: randomUUID };
      return new WebStandardStreamableHTTPServerTransport(settings).handleRequest(request, fetchOptions);
    }
    const slot = sessions.reserve(exchange.quotaOwner);
    if (typeof slot === "string") return rpcRefusal(503, -32_000, refusalText(slot, maxSessions));
    try {
      const session: LegacySession = new LegacySession({
        ...BODY_LIMIT,
        sessionIdGenerator: () => idAtReplica(server.replicas?.name, randomUUID()),
        onsessioninitialized: (id) => slot.fill(id, owner, session),
        onsessionclosed: (id) => sessions.delete(id),
      });
      const { transport } = session;
      const connection = await server.factory({ era: "legacy", requestInfo: request });
      await connection.connect(transport);
      const answer = await transport.handleRequest(request, fetchOptions);
      // The request was refused, so no session was opened.
      if (transport.sessionId === undefined) await transport.close();
      return answer;
    } finally {
      slot.release();
    }
  };

  const handle: HandleRequest = async (request, fetchOptions) => {
    const isLegacy = await isLegacyRequest(request, fetchOptions.parsedBody, BODY_LIMIT);
    return isLegacy ? legacy(request, fetchOptions) : modern.fetch(request, fetchOptions);
  };
  const { replicas } = server;
  replicas?.receive((request, signal) => answerForwarded(request, signal, handle)).catch(onError);

  const fetch: HandleRequest = async (request, given) => {
    const messages = messagesOf(given.parsedBody);
    const problem =
      messages.length > MAX_BATCH_MESSAGES
        ? `the batch has ${messages.length} messages, and may have ${MAX_BATCH_MESSAGES}`
        : tooLongIn(given.parsedBody);
    if (problem !== undefined) return rpcRefusal(400, -32_600, `Bad Request: ${problem}`);
    const forwarded = replicas && (await forwardToOwner(replicas, request, given));
    return forwarded ?? handle(request, given);
  };

  return {
    path: MCP_PATH,
    sessions,
    route(app) {
      app.all(MCP_PATH, readJsonBody, endWithToken, ({ req, get }) => {
        const [authInfo, parsedBody] = [get("authInfo"), get("body")];
        return fetch(req.raw, {
          ...(authInfo !== undefined && { authInfo }),
          ...(parsedBody !== undefined && { parsedBody }),
        });
      });
    },
    async close() {
      await Promise.all([modern.close(), sessions.close()]);
    },
  };
}

function messagesOf(body: unknown): unknown[] {
  if (body === undefined) return [];
  return Array.isArray(body) ? body : [body];
}
