import type { Config } from "@cem/config";
import { CemError } from "@cem/core";
import type { AuthSettings } from "@cem/mcp-server";

/**
 * How the configuration authorizes clients over HTTP.
 *
 * @returns `undefined` where it does not.
 * @throws CemError `AUTH_INVALID` where a token and an issuer are both set.
 */
export function authOf({ customers, server }: Config): AuthSettings | undefined {
  const { authToken, authIssuer, authAudience, authJwksUrl, authScopes } = server;
  if (authToken !== undefined && authIssuer !== undefined) {
    throw new CemError("AUTH_INVALID", "A token and an issuer are both set; only one can authorize clients.");
  }
  if (authToken !== undefined) return { token: authToken.reveal() };
  if (authIssuer === undefined) return undefined;
  return {
    issuer: authIssuer,
    scopes: authScopes,
    audience: authAudience,
    jwksUrl: authJwksUrl,
    customerClaim: customers.claim,
  };
}
