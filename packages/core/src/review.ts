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
  /** Advice on how to solve it: one sentence. */
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
  /** Why the code can't be parsed, where it is refused for nothing else. It is also one of the findings. */
  syntaxError?: GuestError | undefined;
  /** The calls that the code names and that need a yes. Absent where there are none. */
  needsApproval?: readonly PlannedCall[] | undefined;
}

/** Reviews code before it runs. */
export interface Guard {
  readonly specificationVersion: "v1";
  review(request: ReviewRequest): Promise<Verdict>;
  /**
   * Looks at what a run hands to a model, which may come from anyone.
   *
   * @returns the rules that found a text that poses as an instruction to the model. Empty where there is none.
   */
  inspect?(value: JsonValue | undefined, output: string): Promise<readonly string[]>;
}

export interface TypeCheckRequest extends ReviewRequest {
  /**
   * Whether every type error is found, rather than those alone that would make a run fail.
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
   * Loads what a check needs. Called when code to check is being written, or has come.
   *
   * @returns a promise that resolves once all is loaded, where the checker knows.
   */
  prepare?(): Promise<void> | void;
  /** Frees what the checks use. Safe to call twice. */
  dispose(): Promise<void>;
}
