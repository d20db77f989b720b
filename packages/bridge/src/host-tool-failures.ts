import { CemError } from "@cem/core";
import type { ErrorDetails, FailedTool } from "@cem/core";
import { hideInside } from "./secrets.ts";
import type { HideSecrets } from "./secrets.ts";

/** Creates a `TOOL_TIMEOUT` error. */
export function toolTimedOut({ server, tool }: FailedTool, timeoutMs: number): CemError {
  const message = `${server}.${tool} did not answer within ${timeoutMs / 1000} s.`;
  return new CemError("TOOL_TIMEOUT", message, { details: { server, tool, timeoutMs } });
}

/**
 * Turns what a host tool threw into an error for code in the sandbox: with the same message and without stack and
 * secrets. A `CemError` keeps its code; the code of others is `TOOL_FAILED`.
 */
export function toolFailed(
  { server, tool }: FailedTool,
  thrown: unknown,
  hideSecrets: HideSecrets,
): CemError {
  if (CemError.isInstance(thrown)) {
    const details = detailsWithoutSecrets(thrown.details, hideSecrets);
    return new CemError(thrown.code, hideSecrets(thrown.message), { details, cause: thrown });
  }
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  const message = text === "" ? `${server}.${tool} failed without a message.` : hideSecrets(text);
  return new CemError("TOOL_FAILED", message, { details: { server, tool }, cause: thrown });
}

function detailsWithoutSecrets(details: ErrorDetails, hideSecrets: HideSecrets): ErrorDetails {
  try {
    return hideInside(details, hideSecrets);
  } catch {
    // Not representable as JSON; the message has to do.
    return {};
  }
}
