import { CemError } from "@cem/core";
import { auth, ClientCredentialsProvider, extractWWWAuthenticateParams } from "@modelcontextprotocol/client";
import type { AuthProvider, OAuthClientProvider } from "@modelcontextprotocol/client";
import { createOAuthProvider } from "./oauth-provider.ts";
import type { AuthSettings } from "./server-settings.ts";
import type { TokenStore } from "./token-store.ts";

/** What a transport needs to send requests as somebody. */
export interface SignIn extends AuthProvider {
  /** Tokens in use, which must not appear in errors and logs. */
  secrets(): readonly string[];
  /** The server wants more than the sign-in was given; the next one asks for it. */
  requireScope(scope: string): Promise<void>;
}

export interface SignInSettings {
  server: string;
  /** As of `storeKey`. */
  url: string;
  settings: AuthSettings;
  clientName: string;
  store: TokenStore;
}

/**
 * Uses a stored sign-in and renews it. Never opens a browser: where a person is needed it fails with
 * `AUTH_REQUIRED`. Requests that are refused at the same time share one renewal, since a refresh token
 * may work only once.
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
      if (tokens?.refresh_token === undefined) throw signInNeeded(options.server);
    }
    const result = await auth(provider, {
      serverUrl,
      fetchFn,
      ...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }),
      ...(scope === undefined ? {} : { scope }),
    });
    if (result !== "AUTHORIZED") throw signInNeeded(options.server);
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
    return new ClientCredentialsProvider({
      clientId: settings.clientId,
      clientSecret: settings.clientSecret,
      expectedIssuer: settings.issuer,
      clientName: options.clientName,
      ...(settings.scopes === undefined ? {} : { scope: settings.scopes.join(" ") }),
    });
  }
  return createOAuthProvider({
    ...options,
    settings,
    redirectUrl: "http://127.0.0.1/callback",
    state: "",
    redirect: () => Promise.reject(signInNeeded(options.server)),
  });
}

function signInNeeded(server: string): CemError {
  return new CemError("AUTH_REQUIRED", `Server "${server}" wants a sign-in: run \`cem auth ${server}\`.`, {
    details: { server },
  });
}
