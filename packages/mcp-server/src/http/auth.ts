import { hash, timingSafeEqual } from "node:crypto";
import { CemError, toErrorInfo } from "@cem/core";
import {
  bearerAuthChallengeResponse,
  OAuthError,
  OAuthErrorCode,
  verifyBearerToken,
} from "@modelcontextprotocol/server";
import type { AuthInfo, OAuthTokenVerifier, VerifyBearerTokenOptions } from "@modelcontextprotocol/server";
import type { JWTPayload } from "jose";
import { currentExchange, reportFault, SHARED_CLIENT_ID } from "../exchange.ts";
import { withOwner } from "../served-client.ts";
import { insteadOf, issuerKeys, RETRY_SECONDS } from "./issuer-keys.ts";

/** A bearer token that all clients share. */
export interface TokenAuthSettings {
  /** At least 16 characters. */
  token: string;
}

/** Bearer tokens (JWT) of an OAuth issuer. */
export interface IssuerAuthSettings {
  /** The issuer's URL, as in the tokens' `iss` claim. */
  issuer: string;
  /** The required `aud` claim. Default: the server's URL. */
  audience?: string | undefined;
  /** The URL of the issuer's key set. Default: the one in the issuer's metadata. */
  jwksUrl?: string | undefined;
  /** The claim with the owner of requests. A token without it is refused. Default: none. */
  ownerClaim?: string | undefined;
  /** The scopes that a token must have. Default: none. */
  scopes?: readonly string[] | undefined;
}

/** How clients authorize: with a shared token, or with tokens of an OAuth issuer. */
export type AuthSettings = TokenAuthSettings | IssuerAuthSettings;

export interface Authenticator {
  /** Returns the client of an Authorization header, or the response that refuses the request. */
  check(authorization: string | undefined): Promise<{ authInfo: AuthInfo } | { refusal: Response }>;
  /** OAuth protected resource metadata (RFC 9728), by which clients find the issuer. Absent with a shared token. */
  readonly resourceMetadata?: object | undefined;
}

/** The path of the protected resource metadata (RFC 9728); the resource's path may follow. */
export const RESOURCE_METADATA_PATH = "/.well-known/oauth-protected-resource";
const MIN_TOKEN_CHARACTERS = 16;
/** Tolerance for clock differences to the issuer. */
const CLOCK_TOLERANCE_SECONDS = 30;
/** The accepted signature algorithms: only asymmetric ones, so that an issuer's public key can't be used as a secret. */
const ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"];
const KEYS_UNREADABLE =
  "The token can't be checked, since the issuer's keys can't be read now. Keep it, and try again later.";
/** The SDK requires an expiry; a shared token has none. 2100-01-01, in seconds since 1970. */
const FAR_FUTURE_SECONDS = 4_102_444_800;

/**
 * @param resource - The URL where clients connect.
 * @throws CemError `AUTH_INVALID` for a shared token that is too short.
 */
export function createAuthenticator(settings: AuthSettings, resource: URL): Authenticator {
  if ("token" in settings) {
    return authenticator({ verifier: sharedTokenVerifier(settings.token), requiredScopes: [] });
  }
  const { issuer, scopes = [], audience = resource.href } = settings;
  return {
    ...authenticator({
      verifier: jwtVerifier(settings, audience),
      requiredScopes: [...scopes],
      resourceMetadataUrl: new URL(`${RESOURCE_METADATA_PATH}${resource.pathname}`, resource).href,
    }),
    resourceMetadata: {
      resource: resource.href,
      authorization_servers: [issuer],
      scopes_supported: scopes,
      bearer_methods_supported: ["header"],
      resource_name: "Code Execution MCP",
    },
  };
}

function authenticator(options: VerifyBearerTokenOptions): Authenticator {
  return {
    async check(authorization) {
      try {
        return { authInfo: await verifyBearerToken(authorization, options) };
      } catch (error) {
        if (OAuthError.isInstance(error)) {
          currentExchange().fault?.(error.message, "debug");
          return { refusal: bearerAuthChallengeResponse(error, options) };
        }
        reportFault(`The issuer's keys can't be read: ${toErrorInfo(error).message}`);
        // The SDK would answer 500, on which clients give up.
        const later = new OAuthError(OAuthErrorCode.TemporarilyUnavailable, KEYS_UNREADABLE);
        const headers = { "retry-after": String(RETRY_SECONDS) };
        return { refusal: Response.json(later.toResponseObject(), { status: 503, headers }) };
      }
    },
  };
}

function sharedTokenVerifier(token: string): OAuthTokenVerifier {
  if (token.length < MIN_TOKEN_CHARACTERS) {
    throw new CemError(
      "AUTH_INVALID",
      `The token has ${token.length} characters and needs at least ${MIN_TOKEN_CHARACTERS}: a shorter one can be guessed.`,
      { details: { characters: token.length, minCharacters: MIN_TOKEN_CHARACTERS } },
    );
  }
  const expected = hash("sha256", token, "buffer");
  return {
    async verifyAccessToken(given) {
      // Digests have one length, so the time of the comparison reveals neither the token nor its length.
      if (!timingSafeEqual(hash("sha256", given, "buffer"), expected))
        throw invalidToken("The token is wrong.");
      return { token: given, clientId: SHARED_CLIENT_ID, scopes: [], expiresAt: FAR_FUTURE_SECONDS };
    },
  };
}

/** @returns The verifier. It throws an error other than OAuthError if the token can't be verified at present. */
function jwtVerifier(settings: IssuerAuthSettings, audience: string): OAuthTokenVerifier {
  const { issuer, jwksUrl, ownerClaim } = settings;
  const keys = issuerKeys(issuer, jwksUrl);
  return {
    async verifyAccessToken(token) {
      const { errors, jwtVerify } = await import("jose");
      try {
        const { payload } = await jwtVerify(token, keys, {
          issuer,
          audience,
          algorithms: ALGORITHMS,
          clockTolerance: CLOCK_TOLERANCE_SECONDS,
          requiredClaims: ["exp"],
        });
        const authInfo = authInfoOf(token, payload);
        if (ownerClaim === undefined) return authInfo;
        const named = nameIn(payload, ownerClaim);
        if (named !== undefined) return withOwner(authInfo, String(named));
        throw invalidToken(`The token has no claim ${JSON.stringify(ownerClaim)} with a name in it.`);
      } catch (error) {
        if (!(error instanceof errors.JOSEError) || error instanceof errors.JWKSInvalid) throw error;
        const { claim = "", payload } = error as typeof error & { claim?: string; payload?: JWTPayload };
        const expected = claim === "iss" ? issuer : claim === "aud" ? audience : undefined;
        const why = expected === undefined ? error.message : insteadOf(claim, payload?.[claim], expected);
        throw invalidToken(`The token is not valid: ${why}.`);
      }
    },
  };
}

/**
 * The client id is issuer, client and subject as JSON, since joining with a separator could be ambiguous.
 *
 * @throws OAuthError if the token names neither a client nor a subject, or not exactly.
 */
function authInfoOf(token: string, payload: JWTPayload): AuthInfo {
  const { exp, scope, scp } = payload;
  const given = typeof scope === "string" ? scope.split(" ") : Array.isArray(scp) ? scp.map(String) : [];
  const client = nameIn(payload, "client_id") ?? nameIn(payload, "azp");
  const identity = [nameIn(payload, "iss"), client, nameIn(payload, "sub")].map((name) => name ?? null);
  if (identity.slice(1).every((name) => name === null)) {
    throw invalidToken("The token names neither a client (client_id, azp) nor a subject (sub).");
  }
  const clientId = JSON.stringify(identity);
  // The verification requires `exp`; without it the token counts as expired. The SDK checks it again.
  return { token, clientId, scopes: given, expiresAt: (exp ?? 0) + CLOCK_TOLERANCE_SECONDS };
}

/** @throws OAuthError for an invalid name: ignoring it, or rounding a large number, could merge several clients into one. */
function nameIn(payload: JWTPayload, claim: string): string | number | undefined {
  const value = payload[claim] ?? "";
  if (typeof value === "string") return value === "" ? undefined : value;
  if (typeof value === "number" && Number.isSafeInteger(value)) return value;
  const name = JSON.stringify(claim);
  throw invalidToken(`The claim ${name} can't be read exactly: the issuer has to send it as text.`);
}

function invalidToken(message: string): OAuthError {
  return new OAuthError(OAuthErrorCode.InvalidToken, message);
}
