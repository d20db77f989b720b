import type { Config } from "@cem/config";
import { CemError } from "@cem/core";
import type { AuthSettings } from "@cem/mcp-server";

/**
 * How the configuration authorizes clients over HTTP.
 *
 * @returns `undefined` where it does not.
 * @throws CemError `AUTH_INVALID` where a token and an issuer are both set; `CONFIG_INVALID` for an issuer whose clients
 *   would share a workspace that is not set to be shared.
 */
export function authOf({ server }: Config): AuthSettings | undefined {
  const { authToken, authIssuer, authAudience, authJwksUrl, authScopes, sharedWorkspace } = server;
  if (authToken !== undefined && authIssuer !== undefined) {
    throw new CemError("AUTH_INVALID", "A token and an issuer are both set; only one can authorize clients.");
  }
  if (authToken !== undefined) return { token: authToken.reveal() };
  if (authIssuer === undefined) return undefined;
  if (!sharedWorkspace) {
    throw new CemError(
      "CONFIG_INVALID",
      "server.auth_issuer lets several clients in, and all of them share one workspace: each can read and change the others' files, state and results. Set server.shared_workspace: true where they may, or serve each from a process and a workspace of its own.",
      { details: { authIssuer } },
    );
  }
  return { issuer: authIssuer, scopes: authScopes, audience: authAudience, jwksUrl: authJwksUrl };
}
