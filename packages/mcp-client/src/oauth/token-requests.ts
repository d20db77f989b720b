import { MIN_SECRET_CHARACTERS, withoutSecrets } from "@cem/bridge";
import { CemError, copyBeginning, isObject, parseJson, type JsonValue } from "@cem/core";
import { OAuthError, OAuthErrorCode, type FetchLike } from "@modelcontextprotocol/client";
import { describeCause } from "../transport/call-failures.ts";
import { plainUrl } from "./sign-in-file.ts";

/** Maximum length of an authorization server's text in errors. */
export const MAX_REASON_CHARACTERS = 300;
const SECRET_PARAMETERS = ["refresh_token", "client_secret", "code", "code_verifier"];
/** Errors that don't concern the request: the authorization server is temporarily unable to decide. */
const TEMPORARY_ERRORS = new Set(["server_error", "temporarily_unavailable", "slow_down"]);
const TEMPORARY_STATUSES = new Set([404, 408, 429]);
/** Errors after which the client has to be registered again. */
const CLIENT_ERRORS = new Set(["invalid_client", "unauthorized_client"]);

/**
 * A token request that returned no tokens. The SDK rethrows errors of this class; others it writes to stderr with the
 * authorization server's full response.
 */
export class TokenFailure extends OAuthError {
  /** The error code of the refusal. Absent if the request was not decided, so that it may succeed later. */
  readonly refusal: string | undefined;

  constructor(
    message: string,
    { refusal, cause }: { refusal?: string | undefined; cause?: CemError | undefined },
  ) {
    super(OAuthErrorCode.TemporarilyUnavailable, message);
    this.refusal = refusal;
    this.cause = cause;
  }

  get refusesClient(): boolean {
    return CLIENT_ERRORS.has(this.refusal ?? "");
  }
}

/**
 * Creates the `fetch` for an authorization, whose requests end with the signal. Of the responses to token requests, it only
 * returns those with tokens.
 *
 * The function throws a TokenFailure without secrets for any other response, and when the signal has aborted.
 */
export function createTokenFetch(fetch: FetchLike, signal: AbortSignal): FetchLike {
  /** The endpoint that used up the time. After a failed discovery request, the SDK continues with other endpoints. */
  let late: string | undefined;
  return async (url, init) => {
    const body: unknown = init?.body;
    const isForTokens = body instanceof URLSearchParams;
    const endpoint = plainUrl(String(url));
    let response: Response;
    let text = "";
    try {
      response = await fetch(url, { ...init, signal });
      if (isForTokens) text = await response.text();
    } catch (error) {
      if (!isForTokens && !signal.aborted) throw error;
      const why = signal.aborted ? "did not answer in time" : `can't be reached: ${describeCause(error)}`;
      if (signal.aborted) late ??= endpoint;
      throw new TokenFailure(`${late ?? endpoint} ${why}`, {
        cause: CemError.isInstance(error) ? error : undefined,
      });
    }
    if (!isForTokens) return response;
    const { ok, status, headers } = response;
    // The SDK follows redirects within the origin.
    if (status >= 300 && status < 400) return new Response(undefined, { status, headers });
    const read = parseJson(text) as JsonValue | undefined;
    const answer = isObject(read) ? read : {};
    const { access_token: token, error, error_description: why } = answer;
    if (ok && typeof token === "string" && token !== "") return new Response(text, { status, headers });
    const isRefused = status < 500 && !TEMPORARY_STATUSES.has(status);
    if (typeof error !== "string") {
      const said = ok ? "without a token" : `with HTTP status ${status}`;
      throw new TokenFailure(`${endpoint} answered ${said}`, {
        refusal: isRefused && !ok ? String(status) : undefined,
      });
    }
    const said = typeof why === "string" ? `${error}: ${why}` : error;
    const reason = copyBeginning(withoutSecrets(said, secretsOf(init?.headers, body)), MAX_REASON_CHARACTERS);
    const refusal = isRefused && !TEMPORARY_ERRORS.has(error) ? error : undefined;
    throw new TokenFailure(`${endpoint} answered ${reason}`, { refusal });
  };
}

/** The client's secrets in a request, in plain form and URL-encoded. */
function secretsOf(headers: RequestInit["headers"], parameters: URLSearchParams): string[] {
  const basic = new Headers(headers).get("authorization")?.split(" ").at(-1) ?? "";
  const [, ...password] = Buffer.from(basic, "base64").toString().split(":");
  const values = SECRET_PARAMETERS.map((name) => parameters.get(name) ?? "");
  return [basic, password.join(":"), ...values].flatMap((value) =>
    value.length < MIN_SECRET_CHARACTERS
      ? []
      : [value, new URLSearchParams([["", value]]).toString().slice(1)],
  );
}
