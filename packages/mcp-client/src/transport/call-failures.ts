import type { HideSecrets } from "@cem/bridge";
import { authRequired, CemError, isObject, parseJson, showWholeWords } from "@cem/core";
import type { ErrorDetails, JsonValue } from "@cem/core";
import {
  InsufficientScopeError,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  SSEClientTransport,
  SseError,
  UnauthorizedError,
  UrlElicitationRequiredError,
} from "@modelcontextprotocol/client";
import type { Client } from "@modelcontextprotocol/client";
import { STREAM_ENDED } from "./answer-streams.ts";
import { TOO_LARGE } from "./large-answers.ts";
import { isWebUrl } from "./server-fetch.ts";

const MAX_MESSAGE_CHARACTERS = 4_000;
const TOO_MANY_REQUESTS = 429;
/** Advice in an error of TLS, which only helps who starts Node.js. */
const SYSTEM_CA_OPTION = "try running Node.js with --use-system-ca";
const SSE_SESSION_LOST = /Error POSTing to endpoint \(HTTP 40[04]\)/;
/** Words in errors of servers that do not know a session. */
const SESSION_UNKNOWN = /not found|no valid|invalid|missing|unknown|expired|initialized/iu;
/** Errors before a connection was established, so nothing was sent. */
const UNCONNECTED_CODES = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "UND_ERR_CONNECT_TIMEOUT"]);
const { ConnectionClosed, NotConnected, EraNegotiationFailed } = SdkErrorCode;
const LOST = new Set<string>([ConnectionClosed, NotConnected, EraNegotiationFailed]);
const TRANSPORT_CODES = new Set([...UNCONNECTED_CODES, "ECONNRESET", "EPIPE", "ETIMEDOUT", "UND_ERR_SOCKET"]);

/** The server's process could not be started, or ended during the handshake. The message continues "Server is down: …". */
export class StartFailure extends Error {}

/** `SERVER_CLOSED`: the connection to the server was closed for good. */
export function serverClosed(server: string): CemError {
  const message = `The connection to server "${server}" was closed.`;
  return new CemError("SERVER_CLOSED", message, { details: { server } });
}

export interface FailureContext {
  server: string;
  redact: HideSecrets;
  /** The setting with the token for a server without sign-in. */
  setting?: string | undefined;
  /** How the server's process ended, for example "its process exited with code 1". Absent while it runs. */
  exit?: string | undefined;
}

/**
 * Converts an error of the SDK or the network to a CemError without secrets: `AUTH_REQUIRED`, `SERVER_DOWN`,
 * `SERVER_BUSY` or `PROTOCOL_ERROR`. A CemError keeps its code.
 */
export function toServerError(thrown: unknown, context: FailureContext): CemError {
  const { server, redact, setting } = context;
  const make = (code: string, message: string, details: ErrorDetails = {}): CemError =>
    new CemError(code, showWholeWords(redact(message), MAX_MESSAGE_CHARACTERS), {
      details: { server, ...details },
    });
  if (CemError.isInstance(thrown)) return make(thrown.code, thrown.message, thrown.details);
  const exit = thrown instanceof StartFailure ? thrown.message : context.exit;
  if (isUnauthorized(thrown) && setting !== undefined)
    return make("AUTH_REQUIRED", `Server "${server}" refused the token in ${setting}.`, { setting });
  if (isUnauthorized(thrown)) return authRequired(server);
  if (thrown instanceof InsufficientScopeError) return authRequired(server, thrown.requiredScope);
  if (exit !== undefined) return make("SERVER_DOWN", `Server "${server}" is down: ${exit}`);
  if (thrown instanceof ProtocolError) {
    if (thrown.data === STREAM_ENDED)
      return make("SERVER_DOWN", `The connection to server "${server}" failed: ${thrown.message}`);
    if (thrown.data === TOO_LARGE) return make("RESULT_TOO_LARGE", `Server "${server}": ${thrown.message}`);
    const { code, message } = thrown;
    const said = `${message}${addressesIn(thrown)}`;
    return make("PROTOCOL_ERROR", `Server "${server}" answered with error ${code}: ${said}`, {
      rpcCode: code,
    });
  }
  const isLost = isConnectionLoss(thrown);
  if (thrown instanceof SdkHttpError) {
    const { status, statusText = "" } = thrown.data;
    const what = `Server "${server}" answered with HTTP status ${status} ${statusText}`.trimEnd();
    const code = status === TOO_MANY_REQUESTS ? "SERVER_BUSY" : isLost ? "SERVER_DOWN" : "PROTOCOL_ERROR";
    return make(code, `${what}: ${describeCause(thrown)}`);
  }
  if (isLost)
    return make("SERVER_DOWN", `The connection to server "${server}" failed: ${describeCause(thrown)}`);
  if (thrown instanceof SdkError && thrown.code === SdkErrorCode.InvalidResult) {
    return make("PROTOCOL_ERROR", `Server "${server}" sent an invalid result: ${thrown.message}`);
  }
  const oddity = oddityOf(thrown);
  if (oddity !== undefined)
    return make(
      "PROTOCOL_ERROR",
      `Server "${server}" answered with something that is not a message (${oddity}).`,
    );
  return make("PROTOCOL_ERROR", `Server "${server}": ${describeCause(thrown)}`);
}

/** Describes an answer over HTTP that can't be read. `undefined`: the error is of another kind. */
function oddityOf(thrown: unknown): string | undefined {
  if (thrown instanceof SdkError && thrown.code === SdkErrorCode.ClientHttpUnexpectedContent) {
    const { contentType } = (thrown.data ?? {}) as { contentType?: string | null };
    return contentType ?? "it has no content type";
  }
  if (thrown instanceof SyntaxError) return "it is no JSON";
  if (thrown instanceof Error && thrown.name === "ZodError") return "it is no JSON-RPC";
  return causesOf(thrown).some(({ code }) => String(code).startsWith("Z_"))
    ? "its compression is broken"
    : undefined;
}

/** The URLs that the user has to open before the server can execute the request, such as a sign-in to another service. */
function addressesIn(error: ProtocolError): string {
  const asked = error instanceof UrlElicitationRequiredError ? [error.elicitations as unknown].flat() : [];
  const urls = asked.map((one) => (one as { url?: unknown } | null)?.url).filter(isWebUrl);
  return urls.length === 0 ? "" : ` (the user has to open ${urls.join(" and ")} first)`;
}

function isUnauthorized(thrown: unknown): boolean {
  return (
    thrown instanceof UnauthorizedError ||
    (thrown instanceof SdkHttpError && thrown.data.status === 401) ||
    (thrown instanceof SseError && thrown.code === 401)
  );
}

/**
 * Tells whether the server refused a request because it no longer knows the session. If the error names the request, the
 * server may have started executing it, so it must not be retried.
 */
export function sessionLoss(thrown: unknown, { transport }: Client): { mayRepeat: boolean } | undefined {
  if (transport instanceof SSEClientTransport)
    return SSE_SESSION_LOST.test(String(thrown)) ? { mayRepeat: true } : undefined;
  if (!(thrown instanceof SdkHttpError) || transport?.sessionId === undefined) return undefined;
  const { status, text } = thrown.data as { status: number; text?: unknown };
  const body = parseJson(String(text)) as JsonValue | undefined;
  const mayRepeat = !isObject(body) || typeof body["id"] !== "number";
  const isNamed = /session/i.test(String(text)) && SESSION_UNKNOWN.test(String(text));
  const isLost = status === 404 ? mayRepeat || isNamed : status === 400 && isNamed;
  return isLost ? { mayRepeat } : undefined;
}

/** Whether the server is unreachable, as opposed to having refused this one request. */
export function isConnectionLoss(thrown: unknown): boolean {
  if (thrown instanceof SdkHttpError) return thrown.data.status >= 500;
  if (thrown instanceof SseError) return true;
  if (thrown instanceof SdkError) return LOST.has(thrown.code);
  return causesOf(thrown).some(
    ({ code = "", message }) => TRANSPORT_CODES.has(code) || message === "fetch failed",
  );
}

/** An error and its causes, the innermost last. */
function causesOf(thrown: unknown): NodeJS.ErrnoException[] {
  return thrown instanceof Error ? [thrown, ...causesOf(thrown.cause)] : [];
}

/** Marks the error of a call as uncertain: the server may have executed it before the connection or its answer was lost. */
export function withDoubt(error: CemError, thrown: unknown): CemError {
  // An answer that can't be read shows that the server had the call.
  const isInvalid = thrown instanceof SdkError && thrown.code === SdkErrorCode.InvalidResult;
  const isUnread = isInvalid || thrown instanceof RangeError || oddityOf(thrown) !== undefined;
  if (!isUnread && (error.code !== "SERVER_DOWN" || !mayHaveBeenSent(thrown))) return error;
  const message = `${error.message.trimEnd().replace(/\.?$/, ".")} The call may have been executed: see whether it did its work before you repeat it.`;
  return new CemError(error.code, message, { details: error.details });
}

function mayHaveBeenSent(thrown: unknown): boolean {
  // The server asked for a token that could not be renewed.
  if (CemError.isInstance(thrown)) return false;
  if (thrown instanceof SdkError && !(thrown instanceof SdkHttpError)) {
    return thrown.code === SdkErrorCode.ConnectionClosed;
  }
  return !causesOf(thrown).some(({ code = "" }) => UNCONNECTED_CODES.has(code));
}

/** The message of the innermost cause, such as "connect ECONNREFUSED" rather than "fetch failed". */
export function describeCause(thrown: unknown): string {
  let message = thrown instanceof Error ? thrown.message : String(thrown);
  for (const error of causesOf(thrown)) {
    if (error.message !== "") message = error.message;
    else if (error instanceof AggregateError) message = String(error.errors[0]);
  }
  return message.replace(SYSTEM_CA_OPTION, "set NODE_USE_SYSTEM_CA=1, or NODE_EXTRA_CA_CERTS to its file");
}
