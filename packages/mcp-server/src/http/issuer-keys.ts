import { isObject } from "@cem/core";
import type { JWTVerifyGetKey } from "jose";

const FETCH_TIMEOUT_MS = 5_000;
/** Minimum interval between requests to an issuer, since otherwise any sent token could trigger one. */
export const RETRY_SECONDS = 5;

/**
 * The keys of an issuer, fetched at the first well-formed token.
 *
 * @param jwksUrl - Their URL. Default: the one in the issuer's metadata.
 */
export function issuerKeys(issuer: string, jwksUrl: string | undefined): JWTVerifyGetKey {
  let failure: { error: unknown; until: number } | undefined;
  const read = async (): Promise<Response> => {
    if (failure !== undefined && performance.now() < failure.until) throw failure.error;
    try {
      return Response.json(await readJson(jwksUrl ?? (await discoverJwksUrl(issuer))));
    } catch (error) {
      failure = { error, until: performance.now() + RETRY_SECONDS * 1_000 };
      throw error;
    }
  };
  let keys: JWTVerifyGetKey | undefined;
  return async (header, token) => {
    const { createRemoteJWKSet, customFetch, errors, flattenedVerify } = await import("jose");
    const options = { cooldownDuration: RETRY_SECONDS * 1_000, [customFetch]: read };
    keys ??= createRemoteJWKSet(new URL(jwksUrl ?? issuer), options);
    try {
      return await keys(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
      // The token does not identify its key.
      for await (const key of error) if (await flattenedVerify(token, key).catch(() => false)) return key;
      throw new errors.JWSSignatureVerificationFailed();
    }
  };
}

async function discoverJwksUrl(issuer: string): Promise<string> {
  const { origin, pathname } = new URL(issuer);
  const base = pathname === "/" ? "" : pathname.replace(/\/$/, "");
  const candidates = [
    `${origin}/.well-known/oauth-authorization-server${base}`,
    `${origin}${base}/.well-known/openid-configuration`,
  ];
  const problems: string[] = [];
  for (const url of candidates) {
    try {
      const metadata = await readJson(url);
      const { issuer: named, jwks_uri: keys } = isObject(metadata) ? metadata : {};
      if (named === issuer && typeof keys === "string") return keys;
      problems.push(`${url} has ${named === issuer ? "no jwks_uri" : insteadOf("issuer", named, issuer)}`);
    } catch (error) {
      problems.push((error as Error).message);
    }
  }
  throw new Error(problems.join("; "));
}

export function insteadOf(name: string, given: unknown, expected: string): string {
  return `${name} ${JSON.stringify(given) ?? "none"} instead of ${JSON.stringify(expected)}`;
}

/** @throws Error that names the URL. */
async function readJson(url: string): Promise<unknown> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(FETCH_TIMEOUT_MS), redirect: "error" });
    if (answer.ok) return await answer.json();
    throw new Error(`HTTP status ${answer.status}`);
  } catch (error) {
    const { message, cause = {} } = error as Error;
    const { message: reason = "", code = message } = cause as Partial<NodeJS.ErrnoException>;
    throw new Error(`${url}: ${reason === "" ? code : reason}`, { cause: error });
  }
}
