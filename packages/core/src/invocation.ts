import type { Approve, PlannedCall, Elicit, Sample } from "./questions.ts";
import type { ErrorInfo } from "./errors.ts";
import type { FailedTool } from "./failures.ts";
import type { JsonValue } from "./json.ts";
import type { RunLimits } from "./limits.ts";

/** A call of a tool on the host, made by code in the sandbox. Untrusted. */
export interface ToolCall {
  server: string;
  /** The name that the tool's server uses. */
  tool: string;
  args: JsonValue;
  /** The names of server and tool in code, which people know too. Filled in on the host where they differ. */
  inCode?: FailedTool | undefined;
}

/** The result of a call: the tool's value, or the error that the code in the sandbox gets as an exception. */
export type ToolResult = { ok: true; value: JsonValue } | { ok: false; error: ErrorInfo };

/** Progress of a call, as reported by its tool. */
export interface ToolProgress {
  progress: number;
  total?: number | undefined;
  message?: string | undefined;
}

/** A call of a tool on the host that is about to be made, without its arguments. */
export interface AnnouncedCall {
  server: string;
  tool: string;
  /** Whether the tool's author says that it can be called again without harm: it only reads, or is idempotent. */
  isRepeatable: boolean;
}

/** Called and awaited before a call is made. A call whose announcement rejects is not made. */
export type AnnounceCall = (call: AnnouncedCall) => Promise<void>;

/** Context of a call, passed to the invoker with the call. */
export interface InvokeContext {
  /** Aborts when the run ends. */
  signal: AbortSignal;
  /** Pauses the timeout of the run: called with `true` when a person is asked, and with `false` once it is answered. */
  onWaiting?: ((waiting: boolean) => void) | undefined;
  /**
   * Asks the user of the run a tool's question.
   *
   * @defaultValue the invoker's own way to ask; without one, questions are cancelled
   */
  elicit?: Elicit | undefined;
  /**
   * Passes a sampling request of the tool's server to the client of the run.
   *
   * @defaultValue sampling is refused
   */
  sample?: Sample | undefined;
  /** Called after the last check of the call, right before it is made. */
  announce?: AnnounceCall | undefined;
  /** Receives the tool's progress reports. */
  onProgress?: ((progress: ToolProgress) => void) | undefined;
  /** The session of the run. Calls of two sessions may come from two users. */
  session?: string | undefined;
  /** Whether the run has a guest of its own, which no other run of its session gets. */
  singleUse?: boolean | undefined;
  /** The id of the run. */
  run?: string | undefined;
  /** The limits of the run. */
  limits?: RunLimits | undefined;
  /** Returns the time that the run has left, in milliseconds. */
  leftMs?: (() => number) | undefined;
  /**
   * Asks a person whether a call may be made.
   *
   * @defaultValue the invoker's own way to ask; without one, the question is put through `elicit`
   */
  approve?: Approve | undefined;
  /** The calls of the run's program that need approval, where they are evident from its code. */
  planned?: readonly PlannedCall[] | undefined;
  /** Patterns of the tools that the run may call, such as `weather.*`. Absent: only the invoker's own rules apply. */
  allowedTools?: readonly string[] | undefined;
}

/** Executes the calls of tools on the host. */
export interface ToolInvoker {
  readonly specificationVersion: "v1";
  /**
   * Executes one call.
   *
   * @returns the tool's value or its error. A call that fails is a result and must not reject.
   */
  invoke(call: ToolCall, context: InvokeContext): Promise<ToolResult>;
}

/** The record of a call, whether its tool ran in the sandbox or on the host. */
export interface ToolCallRecord {
  server: string;
  tool: string;
  /** Duration in milliseconds. */
  ms: number;
  /** When it began, in milliseconds since the start of the run. Absent when not measured. */
  startMs?: number | undefined;
  ok: boolean;
  /** Whether its run ended before it was answered. */
  isCancelled?: boolean | undefined;
  /** For a cancelled call: whether a tool that may change something may have executed it. Left out of results. */
  mayBeDone?: boolean | undefined;
  /** Whether it ended after its program, which did not wait for it or had given it up. Left out of results too. */
  isLate?: boolean | undefined;
  /** `guest`: the tool ran in the guest, and only the guest reports the call. Absent: the host made the call. */
  place?: "guest" | undefined;
  /** The beginning of the arguments as JSON. Set for repairs by a model only, never in a task's result. */
  args?: string | undefined;
  /** The beginning of the result as JSON. Set like `args`. */
  result?: string | undefined;
  /** Why a tool on the host failed. Left out of results too. */
  error?: ErrorInfo | undefined;
}
