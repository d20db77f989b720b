import type { ErrorInfo } from "@cem/core";

/** Ends a run at once, regardless of `on_error`: it was cancelled, its journal can't be written, or a person has to decide. */
export class RunInterrupted extends Error {
  override readonly name = "RunInterrupted";
  readonly info: ErrorInfo;

  constructor(info: ErrorInfo) {
    super(info.message);
    this.info = info;
  }
}

/** The decisive one of the failures that ended a list: one that ends the run, else the first. Names all uncertain steps. */
export function firstFailure(failures: readonly unknown[]): unknown {
  const [first, ...more] = failures.filter((failure) => failure instanceof RunInterrupted);
  if (first?.info.code !== "WORKFLOW_STEP_UNCERTAIN") return first ?? failures[0];
  const steps = [first, ...more].flatMap(({ info }) => (info.details["steps"] as string[] | undefined) ?? []);
  return new RunInterrupted(stepsUncertain(String(first.info.details["run"]), steps));
}

/** Errors after which it is unknown whether the tool or the code took effect, or that only an executed call can have. */
const UNCERTAIN: ReadonlySet<string> = new Set([
  "ABORTED",
  "RESULT_INVALID",
  "RESULT_NOT_JSON",
  "RESULT_TOO_LARGE",
  "RUN_INTERRUPTED",
  "RUN_KILLED",
  "RUN_OUT_OF_MEMORY",
  "RUN_TIMED_OUT",
  "SERVER_CLOSED",
  "SERVER_DOWN",
  "TOOL_TIMEOUT",
  "WORKFLOW_STEP_TIMED_OUT",
]);

/** Whether a step that failed so may have been executed. Other errors and step types say so by `isUncertain` in the details. */
export function leavesUncertain(error: ErrorInfo): boolean {
  const { code, details } = error;
  const ofTool = toolErrorOf(error);
  // With an RPC code, the server answered that the call failed; without one, its answer could not be read.
  const isUnread = code === "PROTOCOL_ERROR" && details["rpcCode"] === undefined;
  const isUncertain = isUnread || UNCERTAIN.has(code) || details["isUncertain"] === true;
  return isUncertain || (ofTool !== undefined && leavesUncertain(ofTool));
}

/** The error of a step that ends its list. Adds the step's name unless it is already there: outer steps pass the error on. */
export function errorOfStep(error: ErrorInfo, step: string): ErrorInfo {
  const { message, details } = error;
  if (details["step"] !== undefined) return error;
  return { ...error, message: `Step ${step}: ${message}`, details: { ...details, step } };
}

/** The error of the tool call that made a program fail. */
export function toolErrorOf({ details }: ErrorInfo): ErrorInfo | undefined {
  const { toolError } = details;
  if (typeof toolError !== "object" || toolError === null) return undefined;
  const { code, message, details: inner } = toolError as Partial<ErrorInfo>;
  if (typeof code !== "string" || typeof message !== "string") return undefined;
  return { code, message, details: inner ?? {} };
}

/** The error of steps that may have been executed, with advice on how to continue. */
export function stepsUncertain(run: string, steps: readonly string[]): ErrorInfo {
  const [step] = steps;
  const message =
    steps.length === 1
      ? `Step ${step} had begun when its run was ended, so it may have been executed. It is not repeated unless it is`
      : `Steps ${steps.join(", ")} had begun when their run was ended, so they may have been executed. They are not repeated unless they are`;
  return {
    code: "WORKFLOW_STEP_UNCERTAIN",
    message: `${message} marked \`idempotent: true\` or somebody says so.`,
    details: { run, step, steps },
  };
}

/** The error of a step that can't be retried, since it may have been executed. */
export function notRetried(error: ErrorInfo): ErrorInfo {
  return {
    ...error,
    message: `${error.message} It was not tried again, since it may have been executed: mark the step \`idempotent: true\` where that does no harm.`,
  };
}
