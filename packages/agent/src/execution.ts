import { CemError, toErrorInfo } from "@cem/core";
import type {
  Elicit,
  ErrorCode,
  ErrorDetails,
  ErrorInfo,
  GuestError,
  JsonValue,
  RunOutcome,
  TaskResult,
  ToolCallRecord,
  ToolInvoker,
} from "@cem/core";
import type { ReadCache } from "./read-cache.ts";
import type { Program, RunContext } from "./run-context.ts";
import { localCallRecorder } from "./run-recording.ts";
import { callTracer, traceGuest } from "./run-telemetry.ts";
import { nameWork } from "./task-result.ts";

interface ExecutionSettings {
  /** Turns a call into what events and results tell of it. */
  describeCall: (call: ToolCallRecord) => ToolCallRecord;
  /** Answers of earlier attempts. Used for a model's code only. */
  cache: ReadCache | undefined;
  /** Whether calls may be answered from the cache. It learns in either case. */
  answerFromCache: boolean;
}

/** The stage `run`: runs the code in the sandbox. */
export async function execute(
  context: RunContext,
  program: Program,
  { describeCall, cache, answerFromCache }: ExecutionSettings,
): Promise<RunOutcome> {
  const { options, progress, signal, stages } = context;
  const run = async (): Promise<RunOutcome> => {
    const sandbox = await stages.sandbox.get();
    const invoker = await invokerOfRun(context);
    const redactor = await stages.redactor?.get();
    const recordLocalCall = await localCallRecorder(context);
    return sandbox.run({
      code: redactor?.reveal(program.code, { session: options.session }) ?? program.code,
      invoker: (invoker && cache?.wrap(invoker, { answer: answerFromCache })) ?? invoker,
      limits: options.limits,
      allowedTools: options.allowedTools,
      session: options.session,
      singleUse: options.singleUse,
      signal,
      onOutput: (chunk) => progress.emit({ type: "output", chunk }),
      onToolCall: (call, place) => {
        cache?.invalidateBy(call.server, call.tool);
        recordLocalCall?.(call, place);
        progress.emit({ type: "tool-called", call: describeCall(call) });
      },
    });
  };
  const { result: outcome, ms } = await progress.stage("run", () => traceGuest(run));
  const { isolation, toolCalls } = outcome;
  progress.emit({ type: "ran", toolCalls: toolCalls.length, isolation, ms });
  return outcome;
}

/**
 * The pipeline's invoker for the calls of one run: it adds the session, the options of the run and where progress goes, and
 * traces each call.
 *
 * @param elicit - Default: as the options of the run say.
 */
export async function invokerOfRun(
  { id, options, progress, stages }: RunContext,
  elicit: Elicit | undefined = options.onElicit,
): Promise<ToolInvoker | undefined> {
  const invoker = await stages.invoker?.get();
  if (invoker === undefined) return undefined;
  const { singleUse } = options;
  const traceCall = callTracer();
  return {
    specificationVersion: "v1",
    invoke: (call, context) => {
      const { server, tool } = call;
      return traceCall(call, () =>
        invoker.invoke(call, {
          ...context,
          run: id,
          approve: options.onApprove ?? context.approve,
          allowedTools: options.allowedTools ?? context.allowedTools,
          elicit: elicit ?? context.elicit,
          sample: options.onSample,
          announce: options.onCall,
          onProgress: (made) => progress.emit({ type: "tool-progressed", server, tool, progress: made }),
          // Single-use runs get no session: server state would never be reused.
          session: singleUse === true ? undefined : (options.session ?? context.session),
          singleUse,
        }),
      );
    },
  };
}

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
