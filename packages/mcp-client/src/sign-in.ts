import { auth, ClientCredentialsProvider, extractWWWAuthenticateParams } from "@modelcontextprotocol/client";
import type { AuthProvider, OAuthClientProvider } from "@modelcontextprotocol/client";
import { authRequired } from "@cem/core";
import { createOAuthProvider } from "./oauth-provider.ts";
import type { AuthSettings } from "./server-settings.ts";
import type { TokenStore } from "./token-store.ts";
import { withoutUndefined } from "./without-undefined.ts";

/** Authorizes the requests of a transport with stored tokens. */
export interface SignIn extends AuthProvider {
  /** Access tokens in use, to be redacted from errors and logs. */
  secrets(): readonly string[];
  /** Stores a scope that the server requires, to be requested by the next sign-in. */
  requireScope(scope: string): Promise<void>;
}

/** What {@link createSignIn} is created from. */
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
