import { assertKnownOptions, CemError, DEFAULT_RUN_LIMITS } from "@cem/core";
import type { ExecuteOptions, RunLimits } from "@cem/core";

/** The options of a request, with the type of each. */
export const EXECUTE_OPTIONS = {
  signal: "an AbortSignal",
  onEvent: "a function",
  limits: "an object",
  typeCheck: ["before", "strict", "off"],
  mode: ["auto", "code", "direct"],
  context: "a string",
  onElicit: "a function",
  onApprove: "a function",
  onCall: "a function",
  allowedTools: "a list",
  onSample: "a function",
  session: "a string",
  singleUse: "true or false",
  runId: "a string",
  record: "true or false",
  owner: "a string",
  rejoin: true,
} as const satisfies Record<keyof ExecuteOptions, unknown>;

const LIMITS = Object.fromEntries(
  Object.keys(DEFAULT_RUN_LIMITS).map((name) => [name, "a number from 0 on"] as const),
) as Record<keyof RunLimits, "a number from 0 on">;

/** @throws CemError `OPTION_INVALID` for an option or a limit that does not exist, or has another type. */
export function assertExecuteOptions(options: ExecuteOptions, where: string): void {
  assertKnownOptions(options, EXECUTE_OPTIONS, where);
  assertKnownOptions<Partial<RunLimits>>(options.limits ?? {}, LIMITS, `limits of ${where}`);
  if (options.allowedTools?.some((pattern: unknown) => typeof pattern !== "string") === true) {
    const message = `"allowedTools" of ${where} has to be a list of texts, such as "weather.*".`;
    throw new CemError("OPTION_INVALID", message, { details: { where, option: "allowedTools" } });
  }
}
