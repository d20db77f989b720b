import { authRequired, CemError } from "@cem/core";
import { auth, ClientCredentialsProvider, extractWWWAuthenticateParams } from "@modelcontextprotocol/client";
import type {
  AuthProvider,
  OAuthClientInformationContext,
  OAuthClientProvider,
  OAuthDiscoveryState,
  OAuthTokens,
} from "@modelcontextprotocol/client";
import type { AuthorizationCodeSettings, AuthSettings } from "../settings/server-settings.ts";
import type { TokenRecord, TokenStore } from "./token-store.ts";

/** Authorizes the requests of a transport with stored tokens. */
export interface SignIn extends AuthProvider {
  /** Access tokens in use, to be redacted from errors and logs. */
  secrets(): readonly string[];
  /** Stores a scope that the server requires, to be requested by the next sign-in. */
  requireScope(scope: string): Promise<void>;
}

/** Settings of {@link createSignIn}. */
export interface SignInSettings {
  /** The server's name. */
  server: string;
  /** The key of the server in the store, see `storeKey`. */
  url: string;
  settings: AuthSettings;
  clientName: string;
  store: TokenStore;
}

/**
 * Creates the authorization of a server's requests from stored tokens, which are refreshed when they expire. It never
 * opens a browser: requests fail with `AUTH_REQUIRED` where the user has to sign in. Requests that are refused at the
 * same time share one refresh, since a refresh token may be valid only once.
 */
export function createSignIn(options: SignInSettings): SignIn {
  const provider = createProvider(options);
  const secrets = new Set<string>();
  let renewing: Promise<void> | undefined;

  const requireScope = async (requiredScope: string): Promise<void> => {
    const { store, url } = options;
    const record = (await store.read(url)) ?? { version: 1 as const, url };
    if (record.requiredScope !== requiredScope) await store.write({ ...record, requiredScope });
  };

  const renew: NonNullable<AuthProvider["onUnauthorized"]> = async ({ response, serverUrl, fetchFn }) => {
    const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
    if (options.settings.kind === "authorization-code") {
      const tokens = await provider.tokens();
      if (scope !== undefined) await requireScope(scope);
      if (tokens?.refresh_token === undefined) throw authRequired(options.server);
    }
    const result = await auth(provider, withoutUndefined({ serverUrl, fetchFn, resourceMetadataUrl, scope }));
    if (result !== "AUTHORIZED") throw authRequired(options.server);
  };

  return {
    async token() {
      const token = (await provider.tokens())?.access_token;
      if (token !== undefined) secrets.add(token);
      return token;
    },
    async onUnauthorized(context) {
      renewing ??= renew(context).finally(() => (renewing = undefined));
      await renewing;
    },
    secrets: () => [...secrets],
    requireScope,
  };
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
    redirect: () => Promise.reject(authRequired(options.server)),
  });
}

/** Settings of {@link createOAuthProvider}. */
export interface OAuthProviderSettings {
  /** The key of the server in the store, see `storeKey`. */
  url: string;
  settings: AuthorizationCodeSettings;
  clientName: string;
  store: TokenStore;
  /** The redirect URI of the client. */
  redirectUrl: string;
  /** The `state` parameter of the authorization request. */
  state: string;
  /** Opens the authorization URL for the user. */
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

  const update = async (change: Partial<TokenRecord>): Promise<void> => {
    const record = (await store.read(url)) ?? { version: 1 as const, url };
    await store.write({ ...record, ...change });
  };
  /** Ignores credentials that another authorization server issued. */
  const ours = <T extends object>(
    value: T | undefined,
    context?: OAuthClientInformationContext,
  ): T | undefined => {
    const owner: unknown = value === undefined ? undefined : Reflect.get(value, "issuer");
    return context === undefined || owner === undefined || owner === context.issuer ? value : undefined;
  };

  const provider: OAuthClientProvider = {
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
        return {
          client_id: settings.clientId,
          client_secret: settings.clientSecret,
          issuer,
        };
      }
      return ours((await store.read(url))?.client, context);
    },
    async saveClientInformation(client) {
      if (settings.clientId === undefined) await update({ client });
    },
    async tokens(context) {
      return ours((await store.read(url))?.tokens, context) as OAuthTokens | undefined;
    },
    saveTokens: (tokens) => update({ tokens }),
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
    async invalidateCredentials(scope) {
      if (scope === "all" || scope === "discovery") discovery = undefined;
      if (scope === "all" || scope === "verifier") verifier = undefined;
      const record = await store.read(url);
      if (record === undefined) return;
      if (scope === "all" || scope === "client") delete record.client;
      if (scope === "all" || scope === "tokens") delete record.tokens;
      await store.write(record);
    },
  };
  if (settings.clientMetadataUrl !== undefined) provider.clientMetadataUrl = settings.clientMetadataUrl;
  return provider;
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
