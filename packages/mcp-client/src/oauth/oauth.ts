import { randomBytes } from "node:crypto";
import { CemError, showWholeWords, type ErrorDetails } from "@cem/core";
import {
  auth,
  computeScopeUnion,
  extractWWWAuthenticateParams,
  RegistrationRejectedError,
} from "@modelcontextprotocol/client";
import type { AuthorizeOptions } from "../connection/connection-types.ts";
import type { HttpSettings, McpServerSettings, TransportSettings } from "../settings/server-settings.ts";
import { DEFAULT_CONNECT_TIMEOUT_MS, DEFAULT_TIMEOUT_MS, tokenSetting } from "../settings/server-settings.ts";
import { describeCause } from "../transport/call-failures.ts";
import { createServerFetch, isWebUrl } from "../transport/server-fetch.ts";
import type { CallbackListener } from "./callback.ts";
import { createOAuthProvider, createSignIn, describesOAuth, update, withoutUndefined } from "./sign-in.ts";
import type { SignIn } from "./sign-in.ts";
import { storeKey } from "./sign-in-file.ts";
import { createTokenFetch, MAX_REASON_CHARACTERS, TokenFailure } from "./token-requests.ts";
import { createFileTokenStore, createMemoryTokenStore, type TokenStore } from "./token-store.ts";

const SIGN_IN_TIMEOUT_MS = 5 * 60_000;
/** The fraction of a call's timeout for the authorization server, so that its delay is not attributed to the MCP server. */
const RENEWAL_SHARE = 0.8;
/** The SDK's message where an authorization server has no registration. */
const NO_REGISTRATION = /does not support dynamic client registration/;

/**
 * Creates the authorization of HTTP servers by OAuth 2.1.
 *
 * @param settings - `authFolder` stores the tokens; they are kept in memory without it.
 */
export function createOAuth(
  {
    authFolder,
    customerExists,
  }: { authFolder?: string | undefined; customerExists?: (() => Promise<boolean>) | undefined },
  clientName: string,
) {
  const store =
    authFolder === undefined ? createMemoryTokenStore() : createFileTokenStore(authFolder, customerExists);

  return {
    /** The sign-in of a server. `undefined` for those that are disabled, over stdio, or have an `Authorization` header. */
    signInFor(server: McpServerSettings): SignIn | undefined {
      const { transport, name } = server;
      if (server.enabled === false || !isWeb(transport)) return undefined;
      if (tokenSetting(server) !== undefined) return undefined;
      const settings = server.auth ?? { kind: "authorization-code" };
      const { timeoutMs = DEFAULT_TIMEOUT_MS, connectTimeoutMs = DEFAULT_CONNECT_TIMEOUT_MS } = server;
      return createSignIn({
        server: name,
        customer: server.customer,
        url: storeKey(transport.url, settings.clientId),
        settings,
        clientName,
        store,
        timeoutMs: Math.ceil(Math.min(timeoutMs, connectTimeoutMs) * RENEWAL_SHARE),
      });
    },

    /** Signs in through the browser, with PKCE, and stores the tokens. */
    async authorize(
      server: McpServerSettings,
      { openBrowser, signal: outer }: AuthorizeOptions,
    ): Promise<void> {
      const { transport, settings } = assertCanSignIn(server);
      const serverUrl = transport.url;
      const url = storeKey(serverUrl, settings.clientId);
      const timeout = AbortSignal.timeout(SIGN_IN_TIMEOUT_MS);
      const signal = outer === undefined ? timeout : AbortSignal.any([timeout, outer]);
      /** The timeout of the requests before the user signs in, and of those after it. */
      const limit = (): AbortSignal =>
        AbortSignal.any([signal, AbortSignal.timeout(server.connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS)]);
      const state = randomBytes(32).toString("base64url");
      const record = await store.read(url);
      const callback = await listen(settings.callbackPort, record?.callbackPort, state);
      const provider = createOAuthProvider({
        url,
        settings,
        clientName,
        store,
        state,
        redirectUrl: callback.url,
        async redirect(target) {
          if (!isWebUrl(target.href))
            throw failed(server.name, "the URL of its sign-in page is not an HTTP URL");
          await openBrowser(target.href);
        },
      });
      try {
        const beforeUser = limit();
        const challenge = await askForChallenge(transport, beforeUser);
        const scope = computeScopeUnion(challenge.scope, record?.requiredScope, settings.scopes?.join(" "));
        await prepareRecord(store, { url, port: callback.port, scope });
        const { resourceMetadataUrl } = challenge;
        const authorizeWithin = (limited: AbortSignal, more: Partial<Parameters<typeof auth>[1]>) => {
          const fetchFn = createTokenFetch(createServerFetch({ url: serverUrl }), limited);
          return auth(
            provider,
            withoutUndefined({ serverUrl, fetchFn, resourceMetadataUrl, scope, ...more }),
          );
        };
        const first = await authorizeWithin(beforeUser, { forceReauthorization: true });
        if (first === "AUTHORIZED") return;
        const { code, iss } = await callback.wait(signal);
        await authorizeWithin(limit(), withoutUndefined({ authorizationCode: code, iss }));
      } catch (error) {
        if (error instanceof TokenFailure && error.refusesClient)
          await update(store, url, { client: undefined });
        // Otherwise a scope that no longer exists would be requested forever.
        const mayAskTooMuch =
          error instanceof RegistrationRejectedError ||
          (CemError.isInstance(error) && error.details["error"] === "invalid_scope");
        if (mayAskTooMuch) await update(store, url, { requiredScope: undefined });
        outer?.throwIfAborted();
        if (timeout.aborted)
          throw failed(server.name, `nobody signed in within ${SIGN_IN_TIMEOUT_MS / 60_000} minutes`);
        if (CemError.isInstance(error)) throw error;
        const found = await provider.discoveryState?.();
        if (found !== undefined && !describesOAuth(found) && !(error instanceof TokenFailure))
          throw failed(server.name, "it offers no sign-in over OAuth", error, { setting: "headers" });
        const said = describeCause(error);
        const hasNone = NO_REGISTRATION.test(said);
        // After a refusal that may be due to its scope, the next registration asks for less.
        const isByHand = hasNone || (error instanceof RegistrationRejectedError && !record?.requiredScope);
        const byHand = isByHand ? { setting: "auth.client_id", redirectUrl: callback.url } : {};
        throw failed(server.name, hasNone ? "it registers no clients by itself" : said, error, byHand);
      } finally {
        await callback.close();
      }
    },
  };
}

/** Stores the callback port, and drops a client registration made for another port or for fewer scopes. */
async function prepareRecord(
  store: TokenStore,
  wanted: { url: string; port: number; scope: string | undefined },
): Promise<void> {
  const { url, port, scope } = wanted;
  const { client, ...kept } = (await store.read(url)) ?? { version: 1 as const, url };
  const registeredScope: unknown = client?.["scope"];
  const isGood =
    client !== undefined &&
    kept.callbackPort === port &&
    (typeof registeredScope !== "string" || computeScopeUnion(registeredScope, scope) === registeredScope);
  await store.write({ ...kept, callbackPort: port, client: isGood ? client : undefined });
}

function isWeb(transport: TransportSettings): transport is HttpSettings {
  return transport.kind === "http" || transport.kind === "sse";
}

function assertCanSignIn(server: McpServerSettings) {
  const { transport, auth: settings = { kind: "authorization-code" } } = server;
  if (!isWeb(transport))
    throw failed(server.name, "it is not reached over HTTP, and sign-in is for HTTP servers");
  if (settings.kind === "client-credentials")
    throw failed(server.name, "it uses client credentials, which need no user");
  const setting = tokenSetting(server);
  if (setting !== undefined)
    throw failed(server.name, `it has ${setting}, which counts in its place`, undefined, { setting });
  return { transport, settings };
}

async function listen(
  fixed: number | undefined,
  preferred: number | undefined,
  state: string,
): Promise<CallbackListener> {
  const { listenForCallback } = await import("./callback.ts");
  if (fixed !== undefined) return listenForCallback(fixed, state);
  return listenForCallback(preferred ?? 0, state).catch(() => listenForCallback(0, state));
}

/**
 * Sends a request without a token and reads the `WWW-Authenticate` challenge of the response. A redirect is followed once
 * and only within the server's origin, since the configured headers must not reach others.
 */
async function askForChallenge(
  transport: HttpSettings,
  signal: AbortSignal,
): Promise<ReturnType<typeof extractWWWAuthenticateParams>> {
  const fetch = createTokenFetch(createServerFetch(transport), signal);
  const ask = async (url: string): Promise<Response> => {
    const answer = await fetch(url, {
      method: transport.kind === "sse" ? "GET" : "POST",
      headers: { accept: "application/json, text/event-stream", "content-type": "application/json" },
      body: transport.kind === "sse" ? null : JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" }),
    });
    void answer.body?.cancel();
    return answer;
  };
  let response = await ask(transport.url);
  const target = URL.parse(response.headers.get("location") ?? "", transport.url);
  if (response.status >= 300 && response.status < 400 && target?.origin === new URL(transport.url).origin)
    response = await ask(target.href);
  return response.status === 401 ? extractWWWAuthenticateParams(response) : {};
}

function failed(server: string, why: string, cause?: unknown, more: ErrorDetails = {}): CemError {
  const reason = showWholeWords(why.replace(/\.$/, ""), MAX_REASON_CHARACTERS);
  return new CemError("AUTH_FAILED", `Signing in to server "${server}" failed: ${reason}.`, {
    details: { server, ...more },
    cause,
  });
}
