import { CemError, toErrorInfo, toolId } from "@cem/core";
import type {
  ErrorCode,
  ErrorDetails,
  ErrorInfo,
  Finding,
  GuestError,
  RunOutcome,
  TaskResult,
  ToolCallRecord,
  UnawaitedWork,
} from "@cem/core";
import type { Program } from "./stages.ts";

export type Ending = Pick<TaskResult, "status" | "value" | "error">;

export function endingOf(outcome: RunOutcome, describeCall: DescribeCall = (call) => call): Ending {
  switch (outcome.status) {
    case "completed":
      return { status: "success", value: outcome.value ?? null, error: null };
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
      const { limitMb, toolCalls } = outcome;
      const parts =
        toolCalls.length === 0
          ? ""
          : " Read a large result in parts: await result.page(offset, limit) gives { text, next }.";
      const message = `The code needed more than ${limitMb} MiB of memory and was stopped.${parts}`;
      return failure("RUN_OUT_OF_MEMORY", message, { limitMb });
    }
    case "killed":
      return outcome.reason === "aborted"
        ? failure("ABORTED", "The run was cancelled.")
        : failure(outcome.code ?? "RUN_KILLED", outcome.message, {
            ...outcome.details,
            reason: outcome.reason,
            // A code is also set for runs that were refused before they began.
            ...(outcome.code !== undefined && { isUncertain: true }),
          });
    case "refused":
      return failure(outcome.code, outcome.message, outcome.details, "refused");
  }
}

export function cancelledEnding({ reason }: AbortSignal): Ending {
  if (!CemError.isInstance(reason)) return failure("ABORTED", "The task was cancelled.");
  return { status: "error", value: null, error: toErrorInfo(reason) };
}

export function failure(
  code: ErrorCode,
  message: string,
  details: ErrorDetails = {},
  status: Ending["status"] = "error",
): Ending {
  return { status, value: null, error: { code, message, details } };
}

export function invalidCode(error: GuestError): Ending {
  const message = `${subjectOf(error)} is not valid TypeScript, and was not run: ${error.message}`;
  return failure("CODE_INVALID", message, { ...error });
}

function exception({ error, toolCalls }: Extract<RunOutcome, { status: "failed" }>): Ending {
  const message = `${subjectOf(error)} threw ${error.name}: ${error.message}`;
  const toolError = uncaughtToolError(error, toolCalls);
  return failure("CODE_THREW", message, toolError === undefined ? { ...error } : { ...error, toolError });
}

function uncaughtToolError(error: GuestError, calls: readonly ToolCallRecord[]): ErrorInfo | undefined {
  const failures = calls.flatMap((call) => call.error ?? []);
  return failures.findLast(({ message }) => message !== "" && error.message.includes(message));
}

function subjectOf({ name, line, column }: GuestError): string {
  if (line === undefined) return "The code";
  return `Line ${line}${name === "SyntaxError" && column !== undefined ? `, column ${column}` : ""} of the code`;
}

const NOTHING_RETURNED =
  "The code printed nothing, and its value is undefined or a function that nothing calls: end with `return …` or `export default …` of a value.";

const CALLS_MADE = "Its calls were made: repeat none that changes something.";

/** Reduces a call to the fields that events and results report, with the tool's name in code. */
export type DescribeCall = (call: ToolCallRecord) => ToolCallRecord;

/** A run, which has no outcome when its code was not run, and what the review found. */
type ReviewedRun = { outcome: RunOutcome | undefined; program: Program; findings: readonly Finding[] };

/** Notes for the author of the code: work not awaited, fields that it read and don't exist, a missing result. */
export function notesOf({ outcome, program, findings }: ReviewedRun, describeCall: DescribeCall): string[] {
  if (outcome === undefined) return [];
  const { output, outputDroppedBytes, status, unawaited = [] } = outcome;
  const notes = status === "timed-out" ? [] : unawaitedNotes(unawaited, describeCall);
  for (const { line, message } of unknownFieldsIn(findings))
    notes.push(line === undefined ? message : `Line ${line}: ${message}`);
  const isSilent = status === "completed" && outcome.value === undefined && output === "";
  // Code by rules only ends without a value if its task asks for none.
  if (isSilent && outputDroppedBytes === 0 && program.origin !== "rules")
    notes.push(outcome.toolCalls.length === 0 ? NOTHING_RETURNED : `${NOTHING_RETURNED} ${CALLS_MADE}`);
  return notes;
}

/** Names work that was not awaited: `crm.find (lines 3 and 5), setTimeout (line 7)`. */
function nameWork(works: readonly UnawaitedWork[], describeCall: DescribeCall): string {
  const lines = new Map<string, Set<number>>();
  for (const work of works) {
    const name = nameOf(work, describeCall);
    const of = lines.get(name) ?? new Set();
    if (work.line !== undefined) of.add(work.line);
    lines.set(name, of);
  }
  return [...lines].map(([name, of]) => (of.size === 0 ? name : `${name} (${linesOf([...of])})`)).join(", ");
}

function unawaitedNotes(works: readonly UnawaitedWork[], describeCall: DescribeCall): string[] {
  const notes: string[] = [];
  const calls = works.filter(({ isStopped, kind }) => !isStopped && kind !== "timer");
  if (calls.length > 0) {
    const names = nameWork(calls, describeCall);
    notes.push(
      `Still under way when the program had ended, so the run waited for it: ${names}. Where nothing awaits it, await it or the function around it, unless that was meant.`,
    );
  }
  const stopped = works.filter(({ isStopped }) => isStopped);
  if (stopped.length > 0) {
    const names = nameWork(stopped, describeCall);
    notes.push(`Stopped, since the code had returned: ${names}. Await what has to happen before the end.`);
  }
  return notes;
}

function nameOf({ kind, name, server = "" }: UnawaitedWork, describeCall: DescribeCall): string {
  if (kind !== "call") return name;
  const called = describeCall({ server, tool: name, ms: 0, ok: true });
  return toolId({ server: called.server, name: called.tool });
}

function linesOf(lines: readonly number[]): string {
  if (lines.length === 1) return `line ${lines[0]}`;
  return `lines ${lines.slice(0, -1).join(", ")} and ${lines.at(-1)}`;
}

/** Rule of findings that explain why a value may be missing from a program's result. */
const MISSING_VALUE = "unknown-member";

/** The warnings of the type check that may explain why a run failed, or why values are missing in its result. */
export function unknownFieldsIn(findings: readonly Finding[]): Finding[] {
  return findings.filter(({ rule, severity }) => severity === "warning" && rule === MISSING_VALUE);
}
