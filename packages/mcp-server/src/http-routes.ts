import type { IncomingMessage, ServerResponse } from "node:http";
import { validateHostHeader, validateOriginHeader } from "@modelcontextprotocol/server";
import type { AuthInfo } from "@modelcontextprotocol/server";
import { networkOf } from "./client-network.ts";
import { withCustomer } from "./customer.ts";
import type { Authenticator } from "./http-auth.ts";
import { readJsonBody } from "./http-body.ts";
import type { CustomerHeader } from "./http-options.ts";
import { MAX_NAMED_CHARACTERS } from "./limits.ts";

/** A request of Node with what its token says, where the SDK's handlers look for it. */
export type AuthenticatedRequest = IncomingMessage & {
  auth?: AuthInfo;
  /** The address that the request was sent from: a client's or a proxy's. */
  peerAddress?: string;
  /** The client's address, as trusted proxies name it. */
  clientAddress?: string;
};

/** One route of the HTTP front. */
export interface Route {
  /** A path, or the beginning of paths where it ends with `*`. */
  path: string;
  /** Default: any method. */
  method?: "GET" | "POST" | undefined;
  /**
   * The checks that a request has to pass. `none`: for orchestrators, which address a host by any name and hold no
   * token. `host`: the Host and Origin headers. `token`: those, and the authorization where the server has one.
   */
  checks: "none" | "host" | "token";
  /** @param body - The JSON of the request's body. Absent where it has none. */
  handle(
    request: AuthenticatedRequest,
    response: ServerResponse,
    url: URL,
    body?: unknown,
  ): void | Promise<void>;
}

export interface RouterSettings {
  routes: readonly Route[];
  /** The answer to requests that match no route. */
  notFound: string;
  /** Host names that the Host header may have. */
  hosts: string[];
  /** Host names that the Origin header may have. */
  origins: string[];
  /** Those of `origins` whose browsers may read the answers (CORS). */
  pages: string[];
  authenticator: Authenticator | undefined;
  customerHeader?: CustomerHeader | undefined;
}

/** A host with an optional port, and nothing else that a URL can have there, such as a user name. */
const HOST_HEADER = /^(?:\[[\da-f:.]+\]|[^\s/?#@\\[\]:]+)(?::\d{1,5})?$/iu;

const CORS_HEADERS = new Headers({
  vary: "origin",
  "access-control-allow-methods": "GET, POST, DELETE",
  "access-control-allow-headers":
    "authorization, content-type, accept, mcp-session-id, mcp-protocol-version, mcp-method, mcp-name, last-event-id",
  "access-control-expose-headers": "mcp-session-id, www-authenticate, x-request-id",
});

/** Makes the function that checks a request and hands it to its route. Unknown paths need a token too. */
export function createRouter(
  settings: RouterSettings,
): (request: AuthenticatedRequest, response: ServerResponse) => Promise<void> {
  const { routes, notFound, hosts, origins, pages, authenticator } = settings;
  return async (request, response) => {
    const { url: target = "/", method = "GET", headers } = request;
    if (!URL.canParse(target, "http://localhost")) {
      return sendText(response, 400, "The request's URL is not valid.");
    }
    const url = new URL(target, "http://localhost");
    const route = routes.find((candidate) => matches(candidate, method, url.pathname));
    const { checks = "token" } = route ?? {};
    if (checks !== "none") {
      const refused = checkHostAndOrigin(request, hosts, origins);
      if (refused !== undefined) return sendResponse(response, refused);
      if (allowCrossOrigin(request, response, pages) && method === "OPTIONS") {
        response.writeHead(204).end();
        return undefined;
      }
    }
    if (checks === "token" && authenticator !== undefined) {
      const checked = await authenticator.check(headers.authorization);
      if ("refusal" in checked) return sendResponse(response, checked.refusal);
      request.auth = checked.authInfo;
    }
    const customer = checks === "token" ? namedBy(request, settings.customerHeader) : undefined;
    if (customer !== undefined) request.auth = withCustomer(request.auth, customer);
    if (route === undefined) {
      const path = url.pathname.slice(0, MAX_NAMED_CHARACTERS);
      return sendText(response, 404, `There is nothing at ${method} ${path}. ${notFound}`);
    }
    const body = await readJsonBody(request);
    if (body !== undefined && "refusal" in body) return sendResponse(response, body.refusal);
    return route.handle(request, response, url, body?.value);
  };
}

/** The customer whom a trusted proxy names. */
function namedBy(request: AuthenticatedRequest, header: CustomerHeader | undefined): string | undefined {
  if (header === undefined) return undefined;
  const address = networkOf(request.peerAddress ?? request.socket.remoteAddress ?? "");
  if (!header.trustedProxies.some((trusted) => networkOf(trusted) === address)) return undefined;
  const value = request.headers[header.name.toLowerCase()];
  return typeof value === "string" && value !== "" ? value : undefined;
}

function matches(route: Route, method: string, pathname: string): boolean {
  if (route.method !== undefined && route.method !== method) return false;
  return route.path.endsWith("*") ? pathname.startsWith(route.path.slice(0, -1)) : pathname === route.path;
}

/** Refuses requests addressed to another host, or sent by another host's web page (DNS rebinding). */
function checkHostAndOrigin(
  { headers: { host, origin } }: IncomingMessage,
  hosts: string[],
  origins: string[],
): Response | undefined {
  const problem = hostProblem(host, hosts) ?? problemOf(validateOriginHeader(origin, origins));
  if (problem === undefined) return undefined;
  const message = `${problem}. It is not among those that this server accepts.`;
  return Response.json({ jsonrpc: "2.0", error: { code: -32_000, message }, id: null }, { status: 403 });
}

function hostProblem(host: string | undefined, hosts: string[]): string | undefined {
  if (host !== undefined && host !== "" && !HOST_HEADER.test(host)) return `Invalid Host header: ${host}`;
  return problemOf(validateHostHeader(host, hosts));
}

function problemOf(
  checked: ReturnType<typeof validateHostHeader> | ReturnType<typeof validateOriginHeader>,
): string | undefined {
  return checked.ok ? undefined : checked.message;
}

/** Tells browsers on allowed pages that they may read the answer. False for all other clients. */
function allowCrossOrigin(
  { headers: { origin } }: IncomingMessage,
  response: ServerResponse,
  pages: string[],
): boolean {
  if (origin === undefined || !validateOriginHeader(origin, pages).ok) return false;
  response.setHeaders(CORS_HEADERS);
  response.setHeader("access-control-allow-origin", origin);
  return true;
}

/** Answers with a line of plain text. */
export function sendText(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8" }).end(`${text}\n`);
}

async function sendResponse(response: ServerResponse, answer: Response): Promise<void> {
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  response.end(await answer.text());
}
