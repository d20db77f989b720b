import type {
  OAuthClientInformationContext,
  OAuthClientProvider,
  OAuthDiscoveryState,
  OAuthTokens,
} from "@modelcontextprotocol/client";
import { CemError } from "@cem/core";
import type { AuthorizationCodeSettings } from "./server-settings.ts";
import type { TokenRecord, TokenStore } from "./token-store.ts";

/** What {@link createOAuthProvider} is created from. */
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
