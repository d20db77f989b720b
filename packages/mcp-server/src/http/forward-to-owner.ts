import { isObject, toErrorInfo } from "@cem/core";
import type { ForwardedAnswer, ForwardedRequest, JsonObject, Replicas } from "@cem/core";
import type { AuthInfo, McpHandlerRequestOptions } from "@modelcontextprotocol/server";
import { rpcRefusal } from "./checks.ts";
import { currentExchange, inExchange } from "../exchange.ts";
import { replicaOfRequest } from "../runs/run.ts";

/** Headers that are hop-by-hop, or that only the receiving replica may know. */
const KEPT_BACK: ReadonlySet<string> = new Set([
  "authorization",
  "connection",
  "content-length",
  "cookie",
  "keep-alive",
  "transfer-encoding",
]);

export type HandleRequest = (request: Request, options: McpHandlerRequestOptions) => Promise<Response>;

/** Forwards a request to the replica that holds its session or run. `undefined` if it is this one, or no replica does any longer. */
export async function forwardToOwner(
  replicas: Replicas,
  request: Request,
  { parsedBody, authInfo }: McpHandlerRequestOptions,
): Promise<Response | undefined> {
  const owner = replicaOfRequest(request.headers.get("mcp-session-id"), parsedBody);
  if (owner === undefined || owner === replicas.name) return undefined;
  const forwarded: ForwardedRequest = {
    method: request.method,
    url: request.url,
    headers: [...request.headers].filter(([name]) => !KEPT_BACK.has(name)),
    body: parsedBody === undefined ? undefined : JSON.stringify(parsedBody),
    // The client was authorized here; other replicas don't need its token.
    client: {
      quotaOwner: currentExchange().quotaOwner,
      ...(authInfo === undefined ? {} : { authInfo: { ...authInfo, token: "" } as unknown as JsonObject }),
    },
  };
  try {
    const answer = await replicas.send(owner, forwarded, request.signal);
    return answer && new Response(answer.body && cutWhereBroken(answer.body, request.signal), answer);
  } catch {
    return rpcRefusal(
      503,
      -32_000,
      "The replica of the server that holds this can't be reached. Try again in a moment.",
    );
  }
}

/** Cuts the connection where an answer breaks off. The HTTP adapter would write the error between the lines of the log. */
function cutWhereBroken(
  body: NonNullable<ForwardedAnswer["body"]>,
  left: AbortSignal,
): ReadableStream<Uint8Array> {
  const { cut, fault } = currentExchange();
  async function* parts(): AsyncGenerator<Uint8Array> {
    try {
      yield* body;
    } catch (error) {
      if (!left.aborted) fault?.(toErrorInfo(error).message);
      // Ended like a whole answer, a part would be taken for one.
      if (cut === undefined) throw error;
      cut();
    }
  }
  return ReadableStream.from(parts());
}

/** Answers a request forwarded by another replica. */
export async function answerForwarded(
  { method, url, headers, body, client }: ForwardedRequest,
  signal: AbortSignal,
  handle: HandleRequest,
): Promise<ForwardedAnswer> {
  const request = new Request(url, { method, headers, body: body ?? null, signal });
  const quotaOwner = typeof client["quotaOwner"] === "string" ? client["quotaOwner"] : "";
  const authInfo = isObject(client["authInfo"]) ? (client["authInfo"] as unknown as AuthInfo) : undefined;
  const options: McpHandlerRequestOptions = {
    ...(authInfo === undefined ? {} : { authInfo }),
    ...(body === undefined ? {} : { parsedBody: JSON.parse(body) as unknown }),
  };
  const closed = Promise.withResolvers<void>();
  const added: [string, string][] = [];
  const exchange = {
    quotaOwner,
    onClose: (listener: () => void) => void closed.promise.then(listener),
    retryAfter: (seconds: number) => void added.push(["retry-after", String(seconds)]),
  };
  signal.addEventListener("abort", () => closed.resolve(), { once: true });
  try {
    const response = await inExchange(exchange, () => handle(request, options));
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

async function* readAll(body: ReadableStream<Uint8Array>, onEnd: () => void): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } finally {
    onEnd();
  }
}
