import type { AgentEvent, AnnouncedCall, ErrorInfo, ExecuteOptions, JsonValue, TaskResult } from "@cem/core";
import type { TraceCarrier } from "@cem/core/telemetry";

/** The options of a run that a worker gets as they are. What is a function is asked for by a {@link Question}. */
export type CarriedOptions = Pick<
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

/** What a host can be asked for while a run is under way. */
export const ASKED = ["elicit", "approve", "sample"] as const;

/** A run as it waits in the queue. */
export interface QueuedRun {
  kind: "task" | "code";
  /** The task or the code. */
  input: string;
  /** Whose run it is. Absent without customers. */
  customer?: string | undefined;
  /** Which of the customers with that id: another one may come after a deletion. Absent where it is not known. */
  incarnation?: string | undefined;
  options: CarriedOptions;
  /** What the host that waits for the run can be asked for. */
  asked: readonly (typeof ASKED)[number][];
  /** The place in the trace of the host that put it there. Absent where nothing is traced. */
  trace?: TraceCarrier | undefined;
}

/** A question that a run has for the host that waits for it. Its answer has the same number. */
export interface Question {
  type: "question";
  number: number;
  kind: (typeof ASKED)[number];
  request: JsonValue;
}

/** What a worker tells of a run, in order. */
export type RunMessage =
  | { type: "started"; worker: string; attempt: number }
  /** The call is about to be made. */
  | { type: "call"; call: AnnouncedCall }
  | { type: "event"; event: AgentEvent }
  | Question
  /** The question's call has ended. */
  | { type: "withdrawn"; number: number }
  | { type: "result"; result: TaskResult }
  /** The run can't be carried out. */
  | { type: "failed"; error: ErrorInfo };

/** What the host that waits for a run tells its worker. */
export type RunReply =
  | { type: "answer"; number: number; value: JsonValue }
  | { type: "refusal"; number: number; reason: string }
  | { type: "cancel" };
