import { assertKnownOptions } from "@cem/core";
import type { ExecuteOptions, RunLimits } from "@cem/core";

/** The options of a request, and what each has to be. */
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

const LIMITS = {
  timeoutMs: "a number from 0 on",
  memoryMb: "a number from 0 on",
  outputBytes: "a number from 0 on",
  calls: "a number from 0 on",
  callsInFlight: "a number from 0 on",
  payloadBytes: "a number from 0 on",
  writeMb: "a number from 0 on",
} as const satisfies Record<keyof RunLimits, unknown>;

/** @throws CemError `OPTION_INVALID` for an option or a limit that does not exist, or has another type. */
export function assertExecuteOptions(options: ExecuteOptions, where: string): void {
  assertKnownOptions(options, EXECUTE_OPTIONS, where);
  assertKnownOptions<Partial<RunLimits>>(options.limits ?? {}, LIMITS, `limits of ${where}`);
}
