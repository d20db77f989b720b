import { MAX_TIMER_MS } from "@cem/core";
import { validateHostHeader, validateOriginHeader } from "@modelcontextprotocol/server";
import type { MiddlewareHandler } from "hono";
import { currentExchange, SHARED_CLIENT_ID, type HttpEnv } from "../exchange.ts";
import { MAX_NAMED_CHARACTERS } from "../limits.ts";
import { ownerNameOf, withOwner } from "../served-client.ts";
import type { Authenticator } from "./auth.ts";
import type { TrustedProxies } from "./trusted-proxies.ts";

/** Allowed host names of the server, and of pages that may send requests. */
export interface AllowedNames {
  /** For the Host header. */
  hosts: string[];
  /** For the Origin header. */
  origins: string[];
  /** The subset of `origins` that may read the answers (CORS). */
  pages: string[];
  /** A path that is allowed for any host, since it requires a token, which a DNS-rebinding page does not have. */
  anyHost?: string | undefined;
}

/** A host with an optional port, and no other URL parts, such as a user name. */
const HOST_HEADER = /^(?:\[[\da-f:.]+\]|[^\s/?#@\\[\]:]+)(?::\d{1,5})?$/iu;

const CORS_HEADERS = new Headers({
  vary: "origin",
  "access-control-allow-methods": "GET, POST, DELETE",
  "access-control-allow-headers":
    "authorization, content-type, accept, mcp-session-id, mcp-protocol-version, mcp-method, mcp-name, last-event-id",
  "access-control-expose-headers": "mcp-session-id, www-authenticate, x-request-id",
});

/** Refuses requests for another host, or from another host's web page (DNS rebinding). */
export function checkHostAndOrigin({
  hosts,
  origins,
  pages,
  anyHost,
}: AllowedNames): MiddlewareHandler<HttpEnv> {
  return async ({ req, env: { outgoing } }, next) => {
    const origin = req.header("origin");
    const host = req.path === anyHost ? undefined : hostProblem(req.header("host"), hosts);
    const problem = host ?? problemOf(validateOriginHeader(origin, origins));
    if (problem !== undefined) {
      return rpcRefusal(403, -32_000, `${problem}. It is not among those that this server accepts.`);
    }
    if (origin === undefined || !validateOriginHeader(origin, pages).ok) return next();
    outgoing.setHeaders(CORS_HEADERS);
    outgoing.setHeader("access-control-allow-origin", origin);
    return req.method === "OPTIONS" ? new Response(null, { status: 204 }) : next();
  };
}

/** Determines the client and the owner of a request, and refuses unauthorized requests if the server requires authorization. */
export function authorize(
  authenticator: Authenticator | undefined,
  { header, proxies }: { header: string | undefined; proxies: TrustedProxies },
): MiddlewareHandler<HttpEnv> {
  return async (context, next) => {
    const { req, env } = context;
    if (authenticator !== undefined) {
      const checked = await authenticator.check(req.header("authorization"));
      if ("refusal" in checked) return checked.refusal;
      context.set("authInfo", checked.authInfo);
    }
    const isFromProxy = header !== undefined && proxies.has(env.incoming.socket.remoteAddress ?? "");
    const owner = isFromProxy ? env.incoming.headers[header.toLowerCase()] : undefined;
    if (typeof owner === "string" && owner !== "") {
      context.set("authInfo", withOwner(context.get("authInfo"), owner));
    }
    const authInfo = context.get("authInfo");
    const { given, identity } = ownerNameOf({ http: authInfo === undefined ? {} : { authInfo } });
    // A customer may have any number of clients.
    const quotaOwner = given === undefined ? identity : JSON.stringify(["customer", given]);
    if (quotaOwner !== "" && quotaOwner !== SHARED_CLIENT_ID) currentExchange().quotaOwner = quotaOwner;
    return next();
  };
}

/** Ends a stream when its client's token expires, as if the client had disconnected. It can reconnect with a new token. */
export const endWithToken: MiddlewareHandler<HttpEnv> = async ({ req, env: { outgoing }, get }, next) => {
  const isStream = req.method === "GET" || req.header("mcp-method") === "subscriptions/listen";
  const leftMs = (get("authInfo")?.expiresAt ?? Infinity) * 1_000 - Date.now();
  if (isStream && leftMs <= MAX_TIMER_MS) {
    const timer = setTimeout(() => outgoing.destroy(), leftMs).unref();
    currentExchange().onClose(() => clearTimeout(timer));
  }
  return next();
};

function hostProblem(host: string | undefined, hosts: string[]): string | undefined {
  if (host !== undefined && host !== "" && !HOST_HEADER.test(host)) return `Invalid Host header: ${host}`;
  return problemOf(validateHostHeader(host, hosts));
}

function problemOf(checked: { ok: true } | { ok: false; message: string }): string | undefined {
  return checked.ok ? undefined : checked.message;
}

/** A JSON-RPC response that refuses a request. */
export function rpcRefusal(
  status: number,
  code: number,
  message: string,
  headers: Record<string, string> = {},
): Response {
  return Response.json({ jsonrpc: "2.0", error: { code, message }, id: null }, { status, headers });
}

/** A response of one line of plain text. */
export function textAnswer(status: number, text: string, headers: Record<string, string> = {}): Response {
  return new Response(`${text}\n`, {
    status,
    headers: { "content-type": "text/plain; charset=utf-8", ...headers },
  });
}

/** Members with payload data. All other texts in a message are identifiers, which answers repeat or look up. */
const DATA: ReadonlySet<string> = new Set(["arguments", "icons", "inputResponses", "requestState", "result"]);

/** Finds an identifier in a message that is too long, and describes the problem. */
export function tooLongIn(part: unknown, path = ""): string | undefined {
  if (typeof part === "string" && part.length > MAX_NAMED_CHARACTERS)
    return `${path} has ${part.length} characters, and may have ${MAX_NAMED_CHARACTERS}`;
  if (typeof part !== "object" || part === null) return undefined;
  for (const [name, value] of Object.entries(part)) {
    const problem = DATA.has(name) ? undefined : tooLongIn(value, path === "" ? name : `${path}.${name}`);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
