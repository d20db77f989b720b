import type { PlannedCall } from "./questions.ts";
import type { JsonValue } from "./json.ts";
import type { GuestError } from "./sandbox.ts";
import type { ToolDefinition } from "./tools.ts";

/** Something that a guard or a type checker found in code. */
export interface Finding {
  /** A stable name in kebab-case: `unknown-export`. */
  rule: string;
  /** An `error` keeps the code from running. */
  severity: "error" | "warning";
  message: string;
  /** Advice on how to fix it, in one sentence. */
  hint?: string | undefined;
  /** The line in the code, from 1. */
  line?: number | undefined;
  /** The column in the line, from 1. */
  column?: number | undefined;
}

/** Code to review or to check. */
export interface ReviewRequest {
  /** TypeScript. */
  code: string;
  /** Every tool that the code may import. */
  tools: readonly ToolDefinition[];
  /** Patterns of the tools that the run may call, such as `weather.*`. Absent: all. */
  allowedTools?: readonly string[] | undefined;
  signal?: AbortSignal | undefined;
}

/** The decision of a guard. */
export interface Verdict {
  /** Whether the code may run. */
  allowed: boolean;
  findings: Finding[];
  /** The syntax error, when it is the only reason for the refusal. It is also one of the findings. */
  syntaxError?: GuestError | undefined;
  /** The calls in the code that need approval. Absent when there are none. */
  needsApproval?: readonly PlannedCall[] | undefined;
}

/** Reviews code before it runs. */
export interface Guard {
  readonly specificationVersion: "v1";
  review(request: ReviewRequest): Promise<Verdict>;
  /**
   * Inspects what a run passes to a model, which may come from anyone.
   *
   * @returns the rules that found a text posing as an instruction to the model. Empty when there is none.
   */
  inspect?(value: JsonValue | undefined, output: string): Promise<readonly string[]>;
}

export interface TypeCheckRequest extends ReviewRequest {
  /**
   * Whether to report every type error, rather than only those that would make a run fail.
   *
   * @defaultValue false
   */
  strict?: boolean | undefined;
}

/** Checks code against the types of the tools before it runs. */
export interface TypeChecker {
  readonly specificationVersion: "v1";
  /** @returns the type errors with their places in the code. Empty when there are none. */
  check(request: TypeCheckRequest): Promise<Finding[]>;
  /**
   * Loads what a check needs. Called when code to check is being written or has arrived.
   *
   * @returns a promise that resolves once all is loaded, where the checker knows.
   */
  prepare?(): Promise<void> | void;
  /** Frees what the checks use. Safe to call twice. */
  dispose(): Promise<void>;
}
