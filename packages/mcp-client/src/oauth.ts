import { randomBytes } from "node:crypto";
import { CemError } from "@cem/core";
import { auth, computeScopeUnion, extractWWWAuthenticateParams } from "@modelcontextprotocol/client";
import { describeCause } from "./call-failures.ts";
import { isSafeUrl } from "./elicitation.ts";
import { listenForCallback } from "./oauth-callback.ts";
import type { CallbackListener } from "./oauth-callback.ts";
import { createOAuthProvider } from "./oauth-provider.ts";
import { createServerFetch } from "./server-fetch.ts";
import type { AuthorizationCodeSettings, McpServerSettings } from "./server-settings.ts";
import { createSignIn } from "./sign-in.ts";
import type { SignIn } from "./sign-in.ts";
import { createFileTokenStore, createMemoryTokenStore, storeKey } from "./token-store.ts";
import type { TokenStore } from "./token-store.ts";

/** How long a person has to sign in. */
const DEFAULT_SIGN_IN_TIMEOUT_MS = 5 * 60_000;

export interface AuthorizeOptions {
  /** Takes the user to the address, such as by opening a browser, and may print it too. */
  openBrowser: (url: string) => void | Promise<void>;
  signal?: AbortSignal | undefined;
}

export interface OAuth {
  /** `undefined` where a sign-in makes no sense: stdio, and servers with an `Authorization` header. */
  signInFor(server: McpServerSettings): SignIn | undefined;
  authorize(server: McpServerSettings, options: AuthorizeOptions): Promise<void>;
  forget(server: McpServerSettings): Promise<void>;
}

export function createOAuth(options: { folder?: string | undefined; clientName: string }): OAuth {
  const { folder, clientName } = options;
  const store = folder === undefined ? createMemoryTokenStore() : createFileTokenStore(folder);

  return {
    signInFor(server) {
      const { transport, name } = server;
      if (transport.kind === "stdio") return undefined;
      const hasHeader = Object.keys(transport.headers ?? {}).some(
        (key) => key.toLowerCase() === "authorization",
      );
      if (server.auth === undefined && hasHeader) return undefined;
      const settings = server.auth ?? { kind: "authorization-code" };
      return createSignIn({ server: name, url: storeKey(transport.url), settings, clientName, store });
    },

    async authorize(server, { openBrowser, signal: outer }) {
      const { serverUrl, settings } = assertCanSignIn(server);
      const url = storeKey(serverUrl);
      const timeout = AbortSignal.timeout(DEFAULT_SIGN_IN_TIMEOUT_MS);
      const signal = outer === undefined ? timeout : AbortSignal.any([timeout, outer]);
      const state = randomBytes(32).toString("base64url");
      const record = await store.read(url);
      const callback = await listen(settings.callbackPort, record?.callbackPort, state);
      try {
        const challenge = await askForChallenge(server, signal);
        const scope = computeScopeUnion(challenge.scope, record?.requiredScope, settings.scopes?.join(" "));
        await prepareRecord(store, { url, port: callback.port, scope });
        const provider = createOAuthProvider({
          url,
          settings,
          clientName,
          store,
          state,
          redirectUrl: callback.url,
          async redirect(target) {
            if (!isSafeUrl(target.href)) throw failed(server.name, "its sign-in page is not a web address");
            await openBrowser(target.href);
          },
        });
        const fetchFn = createServerFetch({ url: serverUrl });
        const common = {
          serverUrl,
          fetchFn,
          ...(challenge.resourceMetadataUrl === undefined
            ? {}
            : { resourceMetadataUrl: challenge.resourceMetadataUrl }),
          ...(scope === undefined ? {} : { scope }),
        };
        const first = await auth(provider, { ...common, forceReauthorization: true });
        if (first === "AUTHORIZED") return;
        const { code, iss } = await callback.wait(signal);
        await auth(provider, { ...common, authorizationCode: code, ...(iss === undefined ? {} : { iss }) });
      } catch (error) {
        if (timeout.aborted)
          throw failed(server.name, `nobody signed in within ${DEFAULT_SIGN_IN_TIMEOUT_MS / 60_000} minutes`);
        if (CemError.isInstance(error) || outer?.aborted === true) throw error;
        throw failed(server.name, describeCause(error), error);
      } finally {
        await callback.close();
      }
    },

    async forget({ transport }) {
      if (transport.kind !== "stdio") await store.remove(storeKey(transport.url));
    },
  };
}

/** A registration is only good for the address and the scopes it was made with. */
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
  await store.write({ ...kept, callbackPort: port, ...(isGood ? { client } : {}) });
}

function assertCanSignIn(server: McpServerSettings): {
  serverUrl: string;
  settings: AuthorizationCodeSettings;
} {
  const { transport, auth: settings = { kind: "authorization-code" } } = server;
  if (transport.kind === "stdio") {
    throw failed(server.name, "it is a local program, which is given its credentials by `env`");
  }
  if (settings.kind === "client-credentials") {
    throw failed(server.name, "it signs in with its own secret, so there is nothing for a person to do");
  }
  return { serverUrl: transport.url, settings };
}

async function listen(
  fixed: number | undefined,
  preferred: number | undefined,
  state: string,
): Promise<CallbackListener> {
  if (fixed !== undefined) return listenForCallback(fixed, state);
  try {
    return await listenForCallback(preferred ?? 0, state);
  } catch {
    return listenForCallback(0, state);
  }
}

/** A refused request tells where to sign in and what for. */
async function askForChallenge(
  { transport }: McpServerSettings,
  signal: AbortSignal,
): Promise<ReturnType<typeof extractWWWAuthenticateParams>> {
  if (transport.kind === "stdio") return {};
  const response = await createServerFetch(transport)(transport.url, {
    method: transport.kind === "sse" ? "GET" : "POST",
    signal,
    headers: { accept: "application/json, text/event-stream", "content-type": "application/json" },
    ...(transport.kind === "sse" ? {} : { body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" }) }),
  });
  void response.body?.cancel();
  return response.status === 401 ? extractWWWAuthenticateParams(response) : {};
}

function failed(server: string, why: string, cause?: unknown): CemError {
  return new CemError("AUTH_FAILED", `Signing in to server "${server}" failed: ${why.replace(/\.$/, "")}.`, {
    details: { server },
    ...(cause === undefined ? {} : { cause }),
  });
}
