import type { HandedAnswer, HandedRequest, JsonObject, ServerCopies } from "@cem/core";
import type { AuthInfo, McpHandlerRequestOptions } from "@modelcontextprotocol/server";
import { currentExchange, inHandedExchange } from "./http-exchange.ts";
import { holderOf } from "./held-ids.ts";
import { isObject } from "./is-object.ts";

/** Headers that belong to a connection, or that only the copy that took the request may know. */
const KEPT_BACK: ReadonlySet<string> = new Set([
  "authorization",
  "connection",
  "content-length",
  "cookie",
  "keep-alive",
  "transfer-encoding",
]);
const RETRY_LATER = 503;

/** Handles a request whose body is read. */
export type HandleRequest = (request: Request, options: McpHandlerRequestOptions) => Promise<Response>;

/**
 * The answer of the copy of the server that holds the session or the run that a request is about. `undefined` where this
 * copy holds it, or nobody does any longer.
 */
export async function answeredElsewhere(
  copies: ServerCopies,
  request: Request,
  { parsedBody, authInfo }: McpHandlerRequestOptions,
): Promise<Response | undefined> {
  const holder = holderOf(request.headers.get("mcp-session-id"), parsedBody);
  if (holder === undefined || holder === copies.name) return undefined;
  const handed: HandedRequest = {
    method: request.method,
    url: request.url,
    headers: [...request.headers].filter(([name]) => !KEPT_BACK.has(name)),
    body: parsedBody === undefined ? undefined : JSON.stringify(parsedBody),
    // Who the client is was checked here; its token is nobody else's business.
    client: {
      payer: currentExchange().payer,
      ...(authInfo === undefined ? {} : { authInfo: { ...authInfo, token: "" } as unknown as JsonObject }),
    },
  };
  try {
    const answer = await copies.send(holder, handed, request.signal);
    return answer && responseOf(answer);
  } catch {
    const message = "The copy of the server that holds this can't be reached. Try again in a moment.";
    return Response.json(
      { jsonrpc: "2.0", error: { code: -32_000, message }, id: null },
      { status: RETRY_LATER },
    );
  }
}

/** Answers a request that another copy has handed over. */
export async function answerHanded(
  { method, url, headers, body, client }: HandedRequest,
  signal: AbortSignal,
  handle: HandleRequest,
): Promise<HandedAnswer> {
  const request = new Request(url, { method, headers, body: body ?? null, signal });
  const payer = typeof client["payer"] === "string" ? client["payer"] : "";
  const authInfo = isObject(client["authInfo"]) ? (client["authInfo"] as unknown as AuthInfo) : undefined;
  const options: McpHandlerRequestOptions = {
    ...(authInfo === undefined ? {} : { authInfo }),
    ...(body === undefined ? {} : { parsedBody: JSON.parse(body) as unknown }),
  };
  const closed = Promise.withResolvers<void>();
  const added: [string, string][] = [];
  const exchange = {
    payer,
    onClose: (listener: () => void) => void closed.promise.then(listener),
    retryAfter: (seconds: number) => void added.push(["retry-after", String(seconds)]),
  };
  signal.addEventListener("abort", () => closed.resolve(), { once: true });
  try {
    const response = await inHandedExchange(exchange, () => handle(request, options));
    const answer = { status: response.status, headers: [...response.headers, ...added] };
    if (response.body === null) {
      closed.resolve();
      return answer;
    }
    return { ...answer, body: readAll(response.body, closed.resolve) };
  } catch (error) {
    closed.resolve();
    throw error;
  }
}

async function* readAll(
  body: ReadableStream<Uint8Array>,
  onEnd: () => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* body;
  } finally {
    onEnd();
  }
}

function responseOf({ status, headers, body }: HandedAnswer): Response {
  return new Response((body as ReadableStream<Uint8Array> | undefined) ?? null, { status, headers });
}
