import { CemError, toErrorInfo } from "@cem/core";
import type {
  ErrorCode,
  ErrorDetails,
  ErrorInfo,
  GuestError,
  JsonValue,
  RunOutcome,
  TaskResult,
  ToolCallRecord,
} from "@cem/core";
import { nameWork } from "./run-notes.ts";

/** The part of a task's result that says how it ended. */
export type Ending = Pick<TaskResult, "status" | "value" | "error">;

/** Turns the outcome of a run into the ending of a task. */
export function endingOf(
  outcome: RunOutcome,
  describeCall: (call: ToolCallRecord) => ToolCallRecord = (call) => call,
): Ending {
  switch (outcome.status) {
    case "completed":
      return success(outcome.value ?? null);
    case "failed":
      return outcome.kind === "syntax" ? invalidCode(outcome.error) : exception(outcome);
    case "timed-out": {
      const { limitMs, unawaited = [] } = outcome;
      const began =
        unawaited.length === 0
          ? ""
          : ` It had returned, and the run waited for what it did not await: ${nameWork(unawaited, describeCall)}.`;
      const message = `The code did not finish within ${limitMs / 1000} s and was stopped.${began}`;
      return failure("RUN_TIMED_OUT", message, { limitMs }, "timeout");
    }
    case "out-of-memory": {
      const { limitMb } = outcome;
      const message = `The code needed more than ${limitMb} MiB of memory and was stopped.`;
      return failure("RUN_OUT_OF_MEMORY", message, { limitMb });
    }
    case "killed":
      return outcome.reason === "aborted"
        ? failure("ABORTED", "The run was cancelled.")
        : failure(outcome.code ?? "RUN_KILLED", outcome.message, {
            ...outcome.details,
            reason: outcome.reason,
          });
    case "refused":
      return failure(outcome.code, outcome.message, outcome.details, "refused");
  }
}

/** The ending of a task that was cancelled between or within stages. */
export function cancelledEnding({ reason }: AbortSignal): Ending {
  if (!CemError.isInstance(reason)) return failure("ABORTED", "The task was cancelled.");
  return { status: "error", value: null, error: toErrorInfo(reason) };
}

function success(value: JsonValue): Ending {
  return { status: "success", value, error: null };
}

function failure(
  code: ErrorCode,
  message: string,
  details: ErrorDetails = {},
  status: Ending["status"] = "error",
): Ending {
  return { status, value: null, error: { code, message, details } };
}

/** The ending of code that can't be parsed. */
export function invalidCode(error: GuestError): Ending {
  const message = `${subjectOf(error)} is not valid TypeScript: ${error.message}`;
  return failure("CODE_INVALID", message, { ...error });
}

function exception({ error, toolCalls }: Extract<RunOutcome, { status: "failed" }>): Ending {
  const message = `${subjectOf(error)} threw ${error.name}: ${error.message}`;
  const toolError = uncaughtToolError(error, toolCalls);
  return failure("CODE_THREW", message, toolError === undefined ? { ...error } : { ...error, toolError });
}

/** The failure of a host tool that the code did not catch. */
function uncaughtToolError(error: GuestError, calls: readonly ToolCallRecord[]): ErrorInfo | undefined {
  const failures = calls.flatMap((call) => call.error ?? []);
  return failures.findLast(({ message }) => message !== "" && error.message.includes(message));
}

function subjectOf({ line }: GuestError): string {
  return line === undefined ? "The code" : `Line ${line} of the code`;
}
