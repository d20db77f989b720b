import type {
  OAuthClientInformationContext,
  OAuthClientProvider,
  OAuthDiscoveryState,
  OAuthTokens,
} from "@modelcontextprotocol/client";
import { CemError } from "@cem/core";
import type { AuthorizationCodeSettings } from "./server-settings.ts";
import type { TokenRecord, TokenStore } from "./token-store.ts";

export interface OAuthProviderSettings {
  /** As of `storeKey`. */
  url: string;
  settings: AuthorizationCodeSettings;
  clientName: string;
  store: TokenStore;
  /** Where the browser comes back to. */
  redirectUrl: string;
  state: string;
  /** Takes the user to the authorization server. */
  redirect: (url: URL) => Promise<void>;
}

/** What the SDK asks for during one sign-in or refresh. What outlasts it goes to the store. */
export function createOAuthProvider(options: OAuthProviderSettings): OAuthClientProvider {
  const { url, settings, store } = options;
  let verifier: string | undefined;
  let discovery: OAuthDiscoveryState | undefined;
  let issuer: string | undefined;

  const update = async (change: Partial<TokenRecord>): Promise<void> => {
    const record = (await store.read(url)) ?? { version: 1 as const, url };
    await store.write({ ...record, ...change });
  };
  /** Credentials of another authorization server are as good as none. */
  const ours = <T extends object>(
    value: T | undefined,
    context?: OAuthClientInformationContext,
  ): T | undefined => {
    const owner: unknown = value === undefined ? undefined : Reflect.get(value, "issuer");
    return context === undefined || owner === undefined || owner === context.issuer ? value : undefined;
  };

  return {
    redirectUrl: options.redirectUrl,
    clientMetadata: {
      client_name: options.clientName,
      redirect_uris: [options.redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: settings.clientSecret === undefined ? "none" : "client_secret_basic",
      ...(settings.scopes === undefined ? {} : { scope: settings.scopes.join(" ") }),
    },
    ...(settings.clientMetadataUrl === undefined ? {} : { clientMetadataUrl: settings.clientMetadataUrl }),
    state: () => options.state,
    saveAuthorizationServerUrl(authorizationServer) {
      issuer = authorizationServer;
    },
    async clientInformation(context) {
      if (settings.clientId !== undefined) {
        return {
          client_id: settings.clientId,
          ...(settings.clientSecret === undefined ? {} : { client_secret: settings.clientSecret }),
          ...(issuer === undefined ? {} : { issuer }),
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
      if (verifier === undefined)
        throw new CemError("AUTH_FAILED", "There is no sign-in under way to finish.");
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
}
