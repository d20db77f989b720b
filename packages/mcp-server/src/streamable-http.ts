import { randomUUID } from "node:crypto";
import {
  createMcpHandler,
  isInitializeRequest,
  isJSONRPCRequest,
  isLegacyRequest,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import type { McpHandlerRequestOptions } from "@modelcontextprotocol/server";
import type { Servable } from "./agent-server.ts";
import { heldId } from "./held-ids.ts";
import { answeredElsewhere, answerHanded } from "./held-elsewhere.ts";
import type { HandleRequest } from "./held-elsewhere.ts";
import { currentExchange } from "./http-exchange.ts";
import { LegacySession } from "./legacy-session.ts";
import { MAX_BATCH_MESSAGES, MAX_BODY_BYTES, MAX_SESSIONS } from "./limits.ts";
import { tooLongIn } from "./named-in-messages.ts";
import { refusalText, Sessions } from "./sessions.ts";
import type { Seat } from "./sessions.ts";

/** Streamable HTTP for both generations of the protocol: 2026-07-28 without sessions, older ones with sessions. */
export interface StreamableHttp {
  /** Open sessions. */
  readonly sessions: number;
  /** Whether a new client of the older protocol would be refused. */
  readonly isFull: boolean;
  fetch: (request: Request, options?: McpHandlerRequestOptions) => Promise<Response>;
  close: () => Promise<void>;
}

export interface StreamableHttpOptions {
  onError: (error: Error) => void;
  maxSessions?: number | undefined;
  sessionIdleMs?: number | undefined;
}

export function createStreamableHttp(server: Servable, options: StreamableHttpOptions): StreamableHttp {
  const { onError, maxSessions = MAX_SESSIONS, sessionIdleMs } = options;
  const modern = createMcpHandler(server.factory, {
    legacy: "reject",
    onerror: onError,
    maxRequestBodySize: MAX_BODY_BYTES,
  });
  server.onListChanged((list) => modern.notify[`${list}Changed`]());
  const sessions = new Sessions<LegacySession>({
    capacity: maxSessions,
    close: (session) => session.transport.close(),
    idleMs: sessionIdleMs,
  });

  const open = async (
    request: Request,
    owner: string,
    seat: Seat<LegacySession>,
  ): Promise<WebStandardStreamableHTTPServerTransport> => {
    const session: LegacySession = new LegacySession({
      sessionIdGenerator: () => heldId(server.copies?.name, randomUUID()),
      maxRequestBodySize: MAX_BODY_BYTES,
      onsessioninitialized: (id) => seat.fill(id, owner, session),
      onsessionclosed: (id) => sessions.delete(id),
    });
    const connection = await server.factory({ era: "legacy", requestInfo: request });
    await connection.connect(session.transport);
    return session.transport;
  };

  const legacy = async (request: Request, fetchOptions: McpHandlerRequestOptions): Promise<Response> => {
    const owner = fetchOptions.authInfo?.clientId ?? "";
    const exchange = currentExchange();
    const id = request.headers.get("mcp-session-id");
    const messages = messagesOf(fetchOptions.parsedBody);
    if (id !== null) {
      const session = sessions.get(id, owner);
      if (session === undefined) return refusal(404, -32_001, "Session not found");
      exchange.onClose(sessions.hold(id, request.method === "GET" ? "stream" : "request"));
      if (messages.some((message) => isJSONRPCRequest(message) && message.method === "tools/call")) {
        sessions.markWorked(id);
      }
      return session.handle(request, messages, fetchOptions);
    }
    if (!messages.some((message) => isInitializeRequest(message))) {
      return refuseWithoutSession(request, fetchOptions);
    }
    const seat = sessions.take(exchange.payer);
    if (typeof seat === "string") return refusal(503, -32_000, refusalText(seat, maxSessions));
    try {
      const transport = await open(request, owner, seat);
      const answer = await transport.handleRequest(request, fetchOptions);
      // The request was refused, so no session was opened.
      if (transport.sessionId === undefined) await transport.close();
      return answer;
    } finally {
      seat.giveBack();
    }
  };

  const handle: HandleRequest = async (request, fetchOptions) => {
    const isLegacy = await isLegacyRequest(request, fetchOptions.parsedBody, {
      maxRequestBodySize: MAX_BODY_BYTES,
    });
    return isLegacy ? legacy(request, fetchOptions) : modern.fetch(request, fetchOptions);
  };
  const { copies } = server;
  copies?.receive((request, signal) => answerHanded(request, signal, handle)).catch(onError);

  return {
    get sessions() {
      return sessions.size;
    },
    get isFull() {
      return sessions.isFull;
    },
    async fetch(request, given = {}) {
      const messages = messagesOf(given.parsedBody);
      const problem =
        messages.length > MAX_BATCH_MESSAGES
          ? `the batch has ${messages.length} messages, and may have ${MAX_BATCH_MESSAGES}`
          : tooLongIn(messages);
      if (problem !== undefined) return refusal(400, -32_600, `Bad Request: ${problem}`);
      const elsewhere = copies && (await answeredElsewhere(copies, request, given));
      return elsewhere ?? handle(request, given);
    },
    async close() {
      await Promise.all([modern.close(), sessions.close()]);
    },
  };
}

/** The SDK's answer to a request that needs a session and names none. */
async function refuseWithoutSession(request: Request, options: McpHandlerRequestOptions): Promise<Response> {
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    maxRequestBodySize: MAX_BODY_BYTES,
  });
  try {
    return await transport.handleRequest(request, options);
  } finally {
    await transport.close();
  }
}

function messagesOf(body: unknown): unknown[] {
  if (body === undefined) return [];
  return Array.isArray(body) ? body : [body];
}

function refusal(status: number, code: number, message: string): Response {
  return Response.json({ jsonrpc: "2.0", error: { code, message }, id: null }, { status });
}
