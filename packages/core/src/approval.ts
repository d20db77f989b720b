import type { JsonValue } from "./json.ts";
import type { ToolAnnotations } from "./tools.ts";

/** The question whether one call may be made. What the arguments say comes from the code and is untrusted. */
export interface ApprovalRequest {
  server: string;
  tool: string;
  /** The arguments as the tool would get them. */
  args: JsonValue;
  /** Why a person is asked: a clause, such as `its server marks it as destructive`. */
  reason: string;
  annotations?: ToolAnnotations | undefined;
  session?: string | undefined;
  /** Aborts when the run ends and the answer is no longer needed. */
  signal: AbortSignal;
}

/** A call, named in a program, that needs a yes. */
export interface PlannedCall {
  server: string;
  /** The tool's name as its server has it. */
  tool: string;
  /** The arguments, where the program states them. Absent: the program computes them. */
  args?: JsonValue | undefined;
}

/** `once`: this call alone. `session`: this tool for the rest of the session. `no`, like no answer: the call is refused. */
export type ApprovalAnswer = "once" | "session" | "no";

/** Asks a person whether a call may be made. A rejection counts as no. */
export type Approve = (request: ApprovalRequest) => Promise<ApprovalAnswer>;
