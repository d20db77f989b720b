import { randomUUID } from "node:crypto";
import {
  createMcpHandler,
  isInitializeRequest,
  isJSONRPCRequest,
  isJsonContentType,
  isLegacyRequest,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import type { JSONRPCMessage, McpHandlerRequestOptions } from "@modelcontextprotocol/server";
import type { Servable } from "./create-server.ts";
import { MAX_BODY_BYTES, MAX_SESSIONS } from "./limits.ts";
import { Sessions } from "./sessions.ts";

type Transport = WebStandardStreamableHTTPServerTransport;

/** Streamable HTTP for both generations of the protocol: 2026-07-28 without sessions, older ones with sessions. */
export interface StreamableHttp {
  /** Open sessions. */
  readonly sessions: number;
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
  const sessions = new Sessions<Transport>({
    capacity: maxSessions,
    close: (transport) => transport.close(),
    idleMs: sessionIdleMs,
  });

  const open = async (request: Request, owner: string): Promise<Transport> => {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      maxRequestBodySize: MAX_BODY_BYTES,
      onsessioninitialized: (id) => sessions.add(id, owner, transport),
      onsessionclosed: (id) => sessions.delete(id),
    });
    const connection = await server.factory({ era: "legacy", requestInfo: request });
    await connection.connect(transport);
    return transport;
  };

  const legacy = async (request: Request, fetchOptions: McpHandlerRequestOptions): Promise<Response> => {
    const owner = fetchOptions.authInfo?.clientId ?? "";
    const id = request.headers.get("mcp-session-id");
    const body = await readBody(request);
    if (id !== null) {
      const transport = sessions.get(id, owner);
      if (transport === undefined) return refusal(404, -32_001, "Session not found");
      cancelOnDisconnect(request.signal, transport, body);
      return transport.handleRequest(request, fetchOptions);
    }
    const opens = messagesOf(body).some((message) => isInitializeRequest(message));
    if (opens && sessions.isFull) {
      return refusal(
        503,
        -32_000,
        `${maxSessions} sessions are open, which is the maximum. Try again later.`,
      );
    }
    const transport = await open(request, owner);
    const answer = await transport.handleRequest(request, fetchOptions);
    // The request was refused, so no session was opened.
    if (transport.sessionId === undefined) await transport.close();
    return answer;
  };

  return {
    get sessions() {
      return sessions.size;
    },
    async fetch(request, fetchOptions = {}) {
      if (await isLegacyRequest(request, undefined, { maxRequestBodySize: MAX_BODY_BYTES })) {
        return legacy(request, fetchOptions);
      }
      return modern.fetch(request, fetchOptions);
    },
    async close() {
      await Promise.all([modern.close(), sessions.close()]);
    },
  };
}

async function readBody(request: Request): Promise<unknown> {
  if (request.method !== "POST" || !isJsonContentType(request.headers.get("content-type"))) return undefined;
  return request
    .clone()
    .json()
    .catch(() => undefined);
}

function messagesOf(body: unknown): unknown[] {
  return Array.isArray(body) ? body : [body];
}

/**
 * Cancels a client's requests when it disconnects. The older protocol lets a client resume a stream, but this server
 * keeps no answers, so nobody could read them.
 */
function cancelOnDisconnect(signal: AbortSignal, transport: Transport, body: unknown): void {
  const requests = messagesOf(body).filter((message) => isJSONRPCRequest(message));
  if (requests.length === 0) return;
  const cancel = (): void => {
    for (const { id } of requests) {
      const message: JSONRPCMessage = {
        jsonrpc: "2.0",
        method: "notifications/cancelled",
        params: { requestId: id, reason: "The client disconnected." },
      };
      transport.onmessage?.(message);
    }
  };
  signal.addEventListener("abort", cancel, { once: true });
}

function refusal(status: number, code: number, message: string): Response {
  return Response.json({ jsonrpc: "2.0", error: { code, message }, id: null }, { status });
}
