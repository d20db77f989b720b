import { authRequired, CemError } from "@cem/core";
import {
  auth,
  ClientCredentialsProvider,
  computeScopeUnion,
  discoverOAuthServerInfo,
  extractWWWAuthenticateParams,
  type AuthProvider,
  type OAuthClientInformationContext,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type OAuthTokens,
} from "@modelcontextprotocol/client";
import type { AuthorizationCodeSettings, AuthSettings } from "../settings/server-settings.ts";
import { createTokenFetch, TokenFailure } from "./token-requests.ts";
import type { TokenRecord, TokenStore } from "./token-store.ts";

/** Limit for a server that requires another scope each time. */
const MAX_SCOPE_CHARACTERS = 4_000;

/** Authorizes the requests of a transport with stored tokens. */
export interface SignIn extends AuthProvider {
  /** Tokens in use, for redaction from errors and logs. */
  secrets(): readonly string[];
  /** Stores a scope that the server requires, which the next sign-in requests in addition to those granted. */
  requireScope(scope: string): Promise<void>;
}

interface SignInSettings {
  server: string;
  customer?: string | undefined;
  /** The key of the server in the store, see `storeKey`. */
  url: string;
  settings: AuthSettings;
  clientName: string;
  store: TokenStore;
  timeoutMs: number;
}

type UnauthorizedContext = Parameters<NonNullable<AuthProvider["onUnauthorized"]>>[0];

/**
 * Creates the authorization of a server's requests from stored tokens, which are refreshed when they expire. It never
 * opens a browser: requests fail with `AUTH_REQUIRED` where the user has to sign in. Requests refused at the same time
 * share one refresh, since a refresh token may be single-use.
 */
export function createSignIn(options: SignInSettings): SignIn {
  const { server, customer, url, store, settings, timeoutMs } = options;
  const required = (): CemError => authRequired(server, undefined, customer);
  const provider = createProvider(options);
  const secrets = new Set<string>();
  let renewing: Promise<void> | undefined;
  let offersSignIn: Promise<boolean> | undefined;
  /** The access token that was sent last. */
  let sent: string | undefined;

  /** Serializes refreshes across processes, since a refresh token may be single-use. */
  const alone = (action: () => Promise<void>): Promise<void> =>
    store.exclusively(url, action, {
      waitMs: timeoutMs,
      busy: () => notNow(server, "another process is renewing it"),
    });

  const addScope = async (scope: string): Promise<void> => {
    const record = await store.read(url);
    const granted: unknown = record?.tokens?.["scope"];
    const known = typeof granted === "string" ? granted : undefined;
    const requiredScope = computeScopeUnion(record?.requiredScope, known, scope);
    const isNew = record?.requiredScope !== requiredScope;
    if (isNew && (requiredScope ?? "").length <= MAX_SCOPE_CHARACTERS)
      await update(store, url, { requiredScope });
  };

  const request = async ({ response, serverUrl, fetchFn }: UnauthorizedContext): Promise<void> => {
    const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
    const tokenFetch = createTokenFetch(fetchFn, AbortSignal.timeout(timeoutMs));
    const wanted = { serverUrl, fetchFn: tokenFetch, resourceMetadataUrl, scope };
    try {
      if ((await auth(provider, withoutUndefined(wanted))) !== "AUTHORIZED") throw required();
    } catch (error) {
      // The endpoints may have changed.
      await provider.invalidateCredentials?.("discovery");
      if (!(error instanceof TokenFailure)) throw error;
      if (error.refusal !== undefined) {
        if (settings.kind !== "client-credentials") throw error;
        const message = `The client credentials of server "${server}" were refused: ${error.message}.`;
        throw new CemError("AUTH_FAILED", message, { details: { server, setting: "auth" } });
      }
      throw CemError.isInstance(error.cause) ? error.cause : notNow(server, error.message);
    }
  };

  /** Whether the server describes a sign-in over OAuth, or may do so. One that does not may want a key in a header. */
  const discover = async ({ response, serverUrl, fetchFn }: UnauthorizedContext): Promise<boolean> => {
    if (extractWWWAuthenticateParams(response).resourceMetadataUrl !== undefined) return true;
    const tokenFetch = createTokenFetch(fetchFn, AbortSignal.timeout(timeoutMs));
    return discoverOAuthServerInfo(serverUrl, { fetchFn: tokenFetch }).then(describesOAuth, () => true);
  };

  const renew = async (context: UnauthorizedContext): Promise<void> => {
    if (settings.kind === "client-credentials") return request(context);
    const { scope } = extractWWWAuthenticateParams(context.response);
    const refused = sent;
    const known = await provider.tokens();
    if (known?.refresh_token === undefined) {
      if (scope !== undefined) await addScope(scope);
      if (known !== undefined || (await (offersSignIn ??= discover(context)))) throw required();
      const message = `Server "${server}" requires authorization, and offers no sign-in over OAuth.`;
      throw new CemError("AUTH_REQUIRED", message, { details: { server, customer, setting: "headers" } });
    }
    await alone(async () => {
      const tokens = await provider.tokens();
      if (tokens === undefined) throw required();
      if (tokens.access_token !== refused) return;
      if (scope !== undefined) await addScope(scope);
      try {
        await request(context);
      } catch (error) {
        if (!(error instanceof TokenFailure)) throw error;
        // A sign-in or another SDK may have written new tokens meanwhile.
        if ((await provider.tokens())?.refresh_token !== tokens.refresh_token) return;
        if (error.refusal === "invalid_grant") await update(store, url, { tokens: undefined });
        if (error.refusesClient) await update(store, url, { tokens: undefined, client: undefined });
        const message = `Server "${server}" requires authorization: ${error.message}.`;
        throw new CemError("AUTH_REQUIRED", message, { details: { server, customer } });
      }
    });
  };

  return {
    async token() {
      const tokens = await provider.tokens();
      for (const secret of [tokens?.access_token, tokens?.refresh_token]) {
        if (secret !== undefined) secrets.add(secret);
      }
      sent = tokens?.access_token;
      return sent;
    },
    async onUnauthorized(context) {
      renewing ??= renew(context).finally(() => (renewing = undefined));
      await renewing;
    },
    secrets: () => [...secrets],
    requireScope: (scope) => alone(() => addScope(scope)),
  };
}

/** Whether a server, or the authorization server at its origin, describes itself. */
export function describesOAuth(found: OAuthDiscoveryState): boolean {
  return (found.resourceMetadata ?? found.authorizationServerMetadata) !== undefined;
}

function notNow(server: string, why: string): CemError {
  const message = `The sign-in to server "${server}" can't be renewed now: ${why}.`;
  return new CemError("SERVER_DOWN", message, { details: { server } });
}

function createProvider(options: SignInSettings): OAuthClientProvider {
  const { settings } = options;
  if (settings.kind === "client-credentials") {
    return new ClientCredentialsProvider(
      withoutUndefined({
        clientId: settings.clientId,
        clientSecret: settings.clientSecret,
        expectedIssuer: settings.issuer,
        clientName: options.clientName,
        scope: settings.scopes?.join(" "),
      }),
    );
  }
  return createOAuthProvider({
    ...options,
    settings,
    redirectUrl: "http://127.0.0.1/callback",
    state: "",
    redirect: () => Promise.reject(authRequired(options.server, undefined, options.customer)),
  });
}

interface OAuthProviderSettings extends Pick<SignInSettings, "url" | "clientName" | "store"> {
  settings: AuthorizationCodeSettings;
  redirectUrl: string;
  state: string;
  redirect: (url: URL) => Promise<void>;
}

/**
 * Creates the SDK's provider for one sign-in or one refresh. Tokens and the client registration are kept in the store,
 * the rest in memory.
 */
export function createOAuthProvider(options: OAuthProviderSettings): OAuthClientProvider {
  const { url, settings, store } = options;
  let verifier: string | undefined;
  let discovery: OAuthDiscoveryState | undefined;
  let issuer: string | undefined;

  /** Ignores credentials that another authorization server issued. */
  const ours = <T extends object>(
    value: T | undefined,
    context?: OAuthClientInformationContext,
  ): T | undefined => {
    const owner: unknown = value === undefined ? undefined : Reflect.get(value, "issuer");
    return context === undefined || owner === undefined || owner === context.issuer ? value : undefined;
  };

  const { clientMetadataUrl } = settings;
  return {
    ...(clientMetadataUrl !== undefined && { clientMetadataUrl }),
    redirectUrl: options.redirectUrl,
    clientMetadata: {
      client_name: options.clientName,
      redirect_uris: [options.redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: settings.clientSecret === undefined ? "none" : "client_secret_basic",
      scope: settings.scopes?.join(" "),
    },
    state: () => options.state,
    saveAuthorizationServerUrl(authorizationServer) {
      issuer = authorizationServer;
    },
    async clientInformation(context) {
      if (settings.clientId !== undefined) {
        return { client_id: settings.clientId, client_secret: settings.clientSecret, issuer };
      }
      return ours((await store.read(url))?.client, context);
    },
    async saveClientInformation(client) {
      if (settings.clientId === undefined) await update(store, url, { client });
    },
    async tokens(context) {
      return ours((await store.read(url))?.tokens, context) as OAuthTokens | undefined;
    },
    saveTokens: (tokens) => update(store, url, { tokens }),
    redirectToAuthorization: (target) => options.redirect(target),
    saveCodeVerifier(value) {
      verifier = value;
    },
    codeVerifier() {
      if (verifier === undefined) throw new CemError("AUTH_FAILED", "No sign-in was started.");
      return verifier;
    },
    saveDiscoveryState(state) {
      discovery = state;
    },
    discoveryState: () => discovery,
    invalidateCredentials(scope) {
      // Other credentials are invalidated where the refusal is handled.
      if (scope === "discovery") discovery = undefined;
    },
  };
}

export async function update(store: TokenStore, url: string, change: Partial<TokenRecord>): Promise<void> {
  const record = (await store.read(url)) ?? { version: 1 as const, url };
  await store.write({ ...record, ...change });
}

type OptionalKeys<T> = { [Key in keyof T]: undefined extends T[Key] ? Key : never }[keyof T];
type WithoutUndefined<T> = Omit<T, OptionalKeys<T>> & {
  [Key in OptionalKeys<T>]?: Exclude<T[Key], undefined>;
};

/** Copies an object without its undefined members, for options of the SDK that must not be `undefined`. */
export function withoutUndefined<T extends object>(value: T): WithoutUndefined<T> {
  const entries = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(entries) as WithoutUndefined<T>;
}
