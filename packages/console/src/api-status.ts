import type { CemError } from "@cem/core";

/** HTTP statuses of errors, by code. Any other is 400. */
const STATUSES: Readonly<Record<string, number>> = {
  CUSTOMER_UNKNOWN: 403,
  CUSTOMER_GONE: 404,
  CUSTOMER_NOT_FOUND: 404,
  RUN_NOT_FOUND: 404,
  SESSION_NOT_FOUND: 404,
  WORKFLOW_NOT_FOUND: 404,
  WORKFLOW_RUN_NOT_FOUND: 404,
  SESSIONS_DISABLED: 404,
  SKILL_NOT_FOUND: 404,
  STATE_DISABLED: 404,
  SKILLS_DISABLED: 404,
  STATE_BUSY: 409,
  INPUT_TOO_LARGE: 413,
  STATE_TOO_LARGE: 413,
  RATE_LIMITED: 429,
  SERVER_BUSY: 503,
  SERVER_CLOSING: 503,
  AGENT_DISPOSED: 503,
};

/** An error of ours as an answer. */
export function answerError({ code, message }: CemError): Response {
  return errorAnswer(STATUSES[code] ?? 400, code, message);
}

export function errorAnswer(status: number, code: string, message: string): Response {
  return Response.json({ error: { code, message } }, { status });
}
