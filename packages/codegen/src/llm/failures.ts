import { CemError } from "@cem/core";

/** The client puts the status in front, where it is said already. */
const LEADING_STATUS = /^\d{3} /u;
const MAX_MESSAGE_CHARACTERS = 400;
/** Keys as providers write them, whole or masked, in case an API repeats another than ours. */
const KEY_SHAPE = /\b(?:sk|xai|gsk|key)-[\w*.-]{6,}/giu;

/** What an error of the client says of the API's answer, read without trusting its shape. */
export interface ApiFailure {
  name: string;
  message: string;
  status?: number | undefined;
  code?: string | undefined;
  parameter?: string | undefined;
}

export function readFailure(error: unknown): ApiFailure {
  const { name, message, status, code, param } = (
    typeof error === "object" && error !== null ? error : { message: String(error) }
  ) as Record<string, unknown>;
  return {
    name: typeof name === "string" ? name : "Error",
    message: typeof message === "string" ? message.replace(LEADING_STATUS, "") : "no message",
    ...(typeof status === "number" && { status }),
    ...(typeof code === "string" && { code }),
    ...(typeof param === "string" && { parameter: param }),
  };
}

/** Whether the same request may well work the next time. */
export function isPassing({ name, status }: ApiFailure): boolean {
  if (status !== undefined) return status === 408 || status === 409 || status === 429 || status >= 500;
  return name !== "APIUserAbortError";
}

/** The failure in the words of the project. The original is not kept: it may hold the key. */
export function llmError(failure: ApiFailure, model: string, apiKey: string): CemError {
  const { status } = failure;
  const said = withoutKeys(failure.message, apiKey);
  const details = { model, ...(status !== undefined && { status }) };
  const fail = (code: string, message: string): CemError => new CemError(code, message, { details });
  if (status === 401 || status === 403) {
    return fail(
      "LLM_KEY_REFUSED",
      `The API refused the key for ${model} (${status}): ${said} Check the key.`,
    );
  }
  if (status === 429) {
    return fail("LLM_RATE_LIMITED", `The API of ${model} is over its limit (429): ${said} Try later.`);
  }
  if (status !== undefined && status >= 500) {
    return fail("LLM_FAILED", `The API of ${model} failed (${status}): ${said}`);
  }
  if (status !== undefined) {
    return fail("LLM_REQUEST_REFUSED", `The API of ${model} refused the request (${status}): ${said}`);
  }
  if (failure.name === "APIConnectionTimeoutError" || failure.name === "TimeoutError") {
    return fail("LLM_TIMED_OUT", `The API of ${model} did not answer in time. Allow more with llm.timeout.`);
  }
  return fail("LLM_UNREACHABLE", `The API of ${model} can't be reached or broke off: ${said}`);
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
