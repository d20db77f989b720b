import { createHash, timingSafeEqual } from "node:crypto";
import { CemError } from "@cem/core";
import {
  bearerAuthChallengeResponse,
  OAuthError,
  OAuthErrorCode,
  verifyBearerToken,
} from "@modelcontextprotocol/server";
import type { AuthInfo, OAuthTokenVerifier } from "@modelcontextprotocol/server";
import { createRemoteJWKSet, errors, jwtVerify } from "jose";
import type { JWTPayload, JWTVerifyGetKey } from "jose";

/** One token that all clients share, or tokens of an OAuth issuer that this server only checks. */
export type AuthSettings =
  | { token: string }
  | {
      issuer: string;
      /** Whom a token has to be for. Default: the server's URL. */
      audience?: string | undefined;
      /** Default: as the issuer's metadata says. */
      jwksUrl?: string | undefined;
      scopes?: readonly string[] | undefined;
    };

/** Lets a request pass, or answers it. */
export interface Authenticator {
  check(authorization: string | undefined): Promise<{ authInfo: AuthInfo } | { refusal: Response }>;
  /** RFC 9728, for clients that look for the issuer. Absent where there is none. */
  readonly resourceMetadata?: object | undefined;
}

const MIN_TOKEN_CHARACTERS = 16;
const FETCH_TIMEOUT_MS = 5_000;
const CLOCK_TOLERANCE_SECONDS = 30;
const ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"];
const METADATA_PATHS = ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"];
const FAR_FUTURE_SECONDS = 4_102_444_800;

/** @throws CemError `AUTH_INVALID` for a token that can be guessed. */
export function createAuthenticator(settings: AuthSettings, resource: URL): Authenticator {
  if ("token" in settings) return authenticator(sharedTokenVerifier(settings.token), []);
  const { issuer, scopes = [], audience = resource.href } = settings;
  const metadataUrl = new URL(`/.well-known/oauth-protected-resource${resource.pathname}`, resource).href;
  const verifier = jwtVerifier(issuer, audience, keysOf(issuer, settings.jwksUrl));
  return {
    ...authenticator(verifier, scopes, metadataUrl),
    resourceMetadata: {
      resource: resource.href,
      authorization_servers: [issuer],
      scopes_supported: scopes,
      bearer_methods_supported: ["header"],
      resource_name: "Code Execution MCP",
    },
  };
}

function authenticator(
  verifier: OAuthTokenVerifier,
  scopes: readonly string[],
  resourceMetadataUrl?: string,
): Authenticator {
  const options = {
    verifier,
    requiredScopes: [...scopes],
    ...(resourceMetadataUrl !== undefined && { resourceMetadataUrl }),
  };
  return {
    async check(authorization) {
      try {
        return { authInfo: await verifyBearerToken(authorization, options) };
      } catch (error) {
        return { refusal: bearerAuthChallengeResponse(error, options) };
      }
    },
  };
}

function sharedTokenVerifier(token: string): OAuthTokenVerifier {
  if (token.length < MIN_TOKEN_CHARACTERS) {
    throw new CemError(
      "AUTH_INVALID",
      `server.auth_token has ${token.length} characters and needs ${MIN_TOKEN_CHARACTERS}: a shorter one can be guessed. Make one with: openssl rand -hex 32`,
    );
  }
  const expected = digest(token);
  return {
    async verifyAccessToken(given) {
      // Compared by digest, so that the time it takes tells nothing, its length included.
      if (!timingSafeEqual(digest(given), expected)) throw invalidToken("The token is not the one set here.");
      return { token: given, clientId: "shared-token", scopes: [], expiresAt: FAR_FUTURE_SECONDS };
    },
  };
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

function jwtVerifier(
  issuer: string,
  audience: string,
  keys: () => Promise<JWTVerifyGetKey>,
): OAuthTokenVerifier {
  return {
    async verifyAccessToken(token) {
      try {
        const { payload } = await jwtVerify(token, await keys(), {
          issuer,
          audience,
          algorithms: ALGORITHMS,
          clockTolerance: CLOCK_TOLERANCE_SECONDS,
          requiredClaims: ["exp"],
        });
        return authInfoOf(token, payload);
      } catch (error) {
        if (error instanceof errors.JOSEError && !(error instanceof errors.JWKSTimeout)) {
          throw invalidToken(`The token is not valid here: ${error.message}.`);
        }
        throw new OAuthError(OAuthErrorCode.TemporarilyUnavailable, "The issuer's keys can't be read now.");
      }
    },
  };
}

function authInfoOf(token: string, payload: JWTPayload): AuthInfo {
  const { sub, exp, scope, scp, client_id: client } = payload;
  const given = typeof scope === "string" ? scope.split(" ") : Array.isArray(scp) ? scp.map(String) : [];
  const clientId = [client, sub].filter((part) => typeof part === "string").join("/");
  return { token, clientId, scopes: given, ...(exp !== undefined && { expiresAt: exp }) };
}

/** The issuer is asked at the first token, and again after it could not be reached. */
function keysOf(issuer: string, jwksUrl: string | undefined): () => Promise<JWTVerifyGetKey> {
  let keys: Promise<JWTVerifyGetKey> | undefined;
  return () => {
    keys ??= (jwksUrl === undefined ? discoverJwksUrl(issuer) : Promise.resolve(jwksUrl)).then((url) =>
      createRemoteJWKSet(new URL(url), { timeoutDuration: FETCH_TIMEOUT_MS }),
    );
    keys.catch(() => (keys = undefined));
    return keys;
  };
}

async function discoverJwksUrl(issuer: string): Promise<string> {
  const { origin, pathname } = new URL(issuer);
  const base = pathname === "/" ? "" : pathname.replace(/\/$/, "");
  const [authorizationServer = "", openId = ""] = METADATA_PATHS;
  const candidates = [`${origin}${authorizationServer}${base}`, `${origin}${base}${openId}`];
  for (const url of candidates) {
    const answer = await fetch(url, {
      signal: AbortSignal.timeout(FETCH_TIMEOUT_MS),
      redirect: "error",
    }).catch(() => undefined);
    if (answer?.ok !== true) continue;
    const metadata = (await answer.json()) as { issuer?: unknown; jwks_uri?: unknown };
    if (metadata.issuer === issuer && typeof metadata.jwks_uri === "string") return metadata.jwks_uri;
  }
  throw new Error(`${issuer} tells nowhere where its keys are. Set server.auth_jwks_url.`);
}

function invalidToken(message: string): OAuthError {
  return new OAuthError(OAuthErrorCode.InvalidToken, message);
}
