import type { AgentEvent, AnnouncedCall, ErrorInfo, ExecuteOptions, JsonValue } from "@cem/core";
import type { TaskResult, ToolCallRecord } from "@cem/core";
import type { TraceCarrier } from "@cem/core/telemetry";

/** The options of a run that a worker receives as they are. Functions are called through a {@link Question}. */
export type RunOptions = Pick<
  ExecuteOptions,
  | "limits"
  | "typeCheck"
  | "mode"
  | "context"
  | "allowedTools"
  | "session"
  | "singleUse"
  | "runId"
  | "record"
  | "owner"
>;

/** Requests that a host may receive while a run is in progress, with the options that answer them. */
export const HANDLERS = { elicit: "onElicit", approve: "onApprove", sample: "onSample" } as const;

type Asked = keyof typeof HANDLERS;

/** A run in the queue. */
export interface QueuedRun {
  kind: "task" | "code";
  /** The task or the code. */
  input: string;
  /** The owner that the run belongs to. Absent without owners. */
  owner?: string | undefined;
  /** Distinguishes successive owners with the same id, since ids may be reused after a deletion. Absent when unknown. */
  incarnation?: string | undefined;
  options: RunOptions;
  /** Requests that the waiting host can answer. */
  asked: readonly Asked[];
  /** Whether no host listens to its events. Absent when one may. */
  isUnheard?: boolean | undefined;
  /** The trace context of the host that put it there. Absent when nothing is traced. */
  trace?: TraceCarrier | undefined;
}

/** A question from a run to the host that waits for it. Its answer has the same number. */
export interface Question {
  type: "question";
  number: number;
  kind: Asked;
  request: JsonValue;
}

/** Messages of a worker about a run, in order. */
export type RunMessage =
  | { type: "started" }
  /** A call is about to be made. */
  | { type: "call"; call: AnnouncedCall }
  | { type: "event"; event: AgentEvent }
  | Question
  /** The question's call has ended. */
  | { type: "withdrawn"; number: number }
  | { type: "result"; result: TaskResult }
  /** The run can't be executed. */
  | { type: "failed"; error: ErrorInfo };

/** Messages from the host that waits for a run. */
export type RunReply =
  | { type: "answer"; number: number; value: JsonValue }
  | { type: "refusal"; number: number; reason: string }
  /** `isGone`: its owner was deleted, and nothing is kept of it. */
  | { type: "cancel"; isGone?: boolean };

/** The error of a run that its host cancelled. */
export const CANCELLED: ErrorInfo = { code: "ABORTED", message: "The run was cancelled.", details: {} };

/** Creates the result of a run for which no worker sent one. */
export function unrunResult(
  run: QueuedRun,
  error: ErrorInfo,
  calls: readonly AnnouncedCall[] = [],
): TaskResult {
  return {
    status: "error",
    value: null,
    output: "",
    outputDroppedBytes: 0,
    error,
    code: run.kind === "code" ? run.input : "",
    origin: run.kind === "code" ? "given" : "rules",
    selectedTools: [],
    availableTools: 0,
    toolCalls: recordsOf(calls),
    isolation: null,
    timings: {},
    contextTokens: { direct: 0, used: 0, saved: 0 },
  };
}

/** The records of calls whose results are unknown. */
export function recordsOf(calls: readonly AnnouncedCall[]): ToolCallRecord[] {
  return calls.map(({ server, tool }) => ({ server, tool, ms: 0, ok: false }));
}

/** Creates the error of a run whose worker was lost after the run may have changed something. */
export function interrupted(calls: readonly AnnouncedCall[], why: string): ErrorInfo {
  const made = calls.map(({ server, tool }) => `${server}.${tool}`);
  const shown = made.length === 0 ? "No tool was called" : `It had called ${made.join(", ")}`;
  return {
    code: "RUN_INTERRUPTED",
    message: `${why} ${shown}. It is not repeated: look at what was done, then run it again.`,
    details: { calls: made },
  };
}
