import { CemError, type ErrorDetails } from "@cem/core";

/** The status that the client puts before the API's message. */
const LEADING_STATUS = /^\d{3} /u;
const MAX_MESSAGE_CHARACTERS = 400;
/** API keys as providers write them, whole or masked, in case a message repeats another key than the one in use. */
const KEY_SHAPE = /\b(?:sk|xai|gsk|key)-[\w*.-]{6,}/giu;

/** An error of the client or its API. */
export interface ApiFailure {
  /** The name of the client's error class. */
  name: string;
  message: string;
  /** HTTP status. */
  status?: number | undefined;
  /** The API's own error code. */
  code?: string | undefined;
  /** The request parameter that the API names. */
  parameter?: string | undefined;
}

/** Reads an error of the client without trusting its shape. */
export function readFailure(error: unknown): ApiFailure {
  const { name, message, status, code, param } = (
    typeof error === "object" && error !== null ? error : { message: String(error) }
  ) as Record<string, unknown>;
  return {
    name: typeof name === "string" ? name : "Error",
    message: typeof message === "string" ? message.replace(LEADING_STATUS, "") : "no message",
    status: typeof status === "number" ? status : undefined,
    code: typeof code === "string" ? code : undefined,
    parameter: typeof param === "string" ? param : undefined,
  };
}

/** Whether the same request may succeed when it is retried. */
export function isTransient({ name, status }: ApiFailure): boolean {
  if (status !== undefined) return status === 408 || status === 409 || status === 429 || status >= 500;
  return name !== "APIUserAbortError";
}

/**
 * Converts a failure to a CemError. The original is not its cause, since it may hold the API key.
 *
 * @param settings - The request's settings; the key is removed from messages.
 */
export function llmError(
  failure: ApiFailure,
  { model, apiKey, timeoutMs }: { model: string; apiKey: string; timeoutMs: number },
): CemError {
  const { status } = failure;
  const said = withoutKeys(failure.message, apiKey);
  const fail = (code: string, message: string, details: ErrorDetails = {}): CemError =>
    new CemError(code, message, { details: { model, status, ...details } });
  if (status === 401 || status === 403) {
    return fail("LLM_KEY_REFUSED", `The API refused the key for ${model} (${status}): ${said}`);
  }
  if (status === 429) {
    return fail("LLM_RATE_LIMITED", `The API of ${model} is over its rate limit (429): ${said}`);
  }
  if (status !== undefined && status >= 500) {
    return fail("LLM_FAILED", `The API of ${model} failed (${status}): ${said}`);
  }
  if (status !== undefined) {
    return fail("LLM_REQUEST_REFUSED", `The API of ${model} refused the request (${status}): ${said}`);
  }
  if (failure.name === "APIConnectionTimeoutError" || failure.name === "TimeoutError") {
    return fail(
      "LLM_TIMED_OUT",
      `The API of ${model} sent nothing for ${timeoutMs.toLocaleString("en")} milliseconds.`,
      { timeoutMs },
    );
  }
  return fail("LLM_UNREACHABLE", `The API of ${model} can't be reached or closed the connection: ${said}`);
}

function withoutKeys(text: string, apiKey: string): string {
  const clean = text
    .replaceAll(apiKey, "[secret]")
    .replaceAll(KEY_SHAPE, "[secret]")
    .replaceAll(/\s+/gu, " ")
    .trim();
  const clipped =
    clean.length > MAX_MESSAGE_CHARACTERS ? `${clean.slice(0, MAX_MESSAGE_CHARACTERS)}…` : clean;
  return /[.!?…]$/u.test(clipped) ? clipped : `${clipped}.`;
}
