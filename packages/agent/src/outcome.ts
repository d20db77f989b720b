import type { ErrorInfo, JsonValue, RunOutcome, TaskStatus } from "@cem/core";

/** The part of a result that says how it ended. */
export interface Ending {
  status: TaskStatus;
  value: JsonValue;
  error: ErrorInfo | null;
}

function failed(status: TaskStatus, code: string, message: string, details: object = {}): Ending {
  return { status, value: null, error: { code, message, details: { ...details } } };
}

/** A run's outcome in the words of a task's result. */
export function endingOf(outcome: RunOutcome): Ending {
  switch (outcome.status) {
    case "completed":
      return { status: "success", value: outcome.value ?? null, error: null };
    case "failed": {
      const { error, kind } = outcome;
      const place = error.line === undefined ? "The code" : `Line ${error.line} of the code`;
      const message =
        kind === "syntax"
          ? `${place} is not valid TypeScript: ${error.message}`
          : `${place} threw ${error.name}: ${error.message}`;
      const toolError = uncaughtToolError(outcome);
      const details = toolError === undefined ? error : { ...error, toolError };
      return failed("error", kind === "syntax" ? "CODE_INVALID" : "CODE_THREW", message, details);
    }
    case "timed-out":
      return failed(
        "timeout",
        "RUN_TIMED_OUT",
        `The code did not finish within ${outcome.limitMs / 1000} s and was stopped. Allow more with guardrails.max_execution_time, or do less at once.`,
        { limitMs: outcome.limitMs },
      );
    case "out-of-memory":
      return failed(
        "error",
        "RUN_OUT_OF_MEMORY",
        `The code needed more than ${outcome.limitMb} MiB of memory and was stopped. Allow more with guardrails.max_memory_mb, or work in smaller parts.`,
        { limitMb: outcome.limitMb },
      );
    case "killed":
      return outcome.reason === "aborted"
        ? failed("error", "ABORTED", "The run was cancelled.")
        : failed("error", "RUN_KILLED", outcome.message, { reason: outcome.reason });
    case "refused":
      return failed("refused", outcome.code, outcome.message);
  }
}

/** The failure of a tool on the host that the code did not catch. */
function uncaughtToolError({
  error,
  toolCalls,
}: Extract<RunOutcome, { status: "failed" }>): ErrorInfo | undefined {
  const failures = toolCalls.flatMap((call) => call.error ?? []);
  return failures.findLast(({ message }) => message !== "" && error.message.includes(message));
}
