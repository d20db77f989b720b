import type { AgentEvent, AnnouncedCall, ErrorInfo, ExecuteOptions, JsonValue, TaskResult } from "@cem/core";
import type { TraceCarrier } from "@cem/core/telemetry";

/** The options of a run that a worker gets as they are. What is a function is asked for by a {@link Question}. */
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

/** Requests that a host may get while a run is in progress, with the options that answer them. */
export const HANDLERS = { elicit: "onElicit", approve: "onApprove", sample: "onSample" } as const;

type Asked = keyof typeof HANDLERS;

/** A run as it waits in the queue. */
export interface QueuedRun {
  kind: "task" | "code";
  /** The task or the code. */
  input: string;
  /** The owner that the run belongs to. Absent without owners. */
  owner?: string | undefined;
  /** Which of the owners with that id: another one may come after a deletion. Absent where it is not known. */
  incarnation?: string | undefined;
  options: RunOptions;
  /** Requests that the host which waits for the run can answer. */
  asked: readonly Asked[];
  /** Whether no host can hear its events. Absent where one may. */
  isUnheard?: boolean | undefined;
  /** The place in the trace of the host that put it there. Absent where nothing is traced. */
  trace?: TraceCarrier | undefined;
}

/** A question that a run has for the host that waits for it. Its answer has the same number. */
export interface Question {
  type: "question";
  number: number;
  kind: Asked;
  request: JsonValue;
}

/** Messages of a worker about a run, in order. */
export type RunMessage =
  | { type: "started" }
  /** The call is about to be made. */
  | { type: "call"; call: AnnouncedCall }
  | { type: "event"; event: AgentEvent }
  | Question
  /** The question's call has ended. */
  | { type: "withdrawn"; number: number }
  | { type: "result"; result: TaskResult }
  /** The run can't be executed. */
  | { type: "failed"; error: ErrorInfo };

/** Replies of the host that waits for a run. */
export type RunReply =
  | { type: "answer"; number: number; value: JsonValue }
  | { type: "refusal"; number: number; reason: string }
  /** `isGone`: its owner was deleted, and nothing is kept of it. */
  | { type: "cancel"; isGone?: boolean };

/** The result of a run of which no result came from a worker. */
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
    toolCalls: calls.map(({ server, tool }) => ({ server, tool, ms: 0, ok: false })),
    isolation: null,
    timings: {},
    contextTokens: { direct: 0, used: 0, saved: 0 },
  };
}

/** The error of a run whose worker was lost after it may have changed something. */
export function interrupted(calls: readonly AnnouncedCall[], why: string): ErrorInfo {
  const made = calls.map(({ server, tool }) => `${server}.${tool}`);
  const shown = made.length === 0 ? "No tool was called" : `It had called ${made.join(", ")}`;
  return {
    code: "RUN_INTERRUPTED",
    message: `${why} ${shown}. It is not repeated: look at what was done, then run it again.`,
    details: { calls: made },
  };
}
