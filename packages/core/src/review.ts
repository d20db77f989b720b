import type { ToolDefinition } from "./tools.ts";

export interface Finding {
  /** Stable, kebab-case: `unknown-export`. */
  rule: string;
  severity: "error" | "warning";
  message: string;
  /** 1-based place in the code. */
  line?: number | undefined;
  column?: number | undefined;
}

export interface ReviewRequest {
  code: string;
  /** Every tool the code may import. */
  tools: readonly ToolDefinition[];
  signal?: AbortSignal | undefined;
}

export interface Verdict {
  allowed: boolean;
  findings: Finding[];
}

/** Reads code before it runs and says whether it may. */
export interface Guard {
  readonly specificationVersion: "v1";
  review(request: ReviewRequest): Promise<Verdict>;
}

/** Checks code against the types of the tools before it runs. */
export interface TypeChecker {
  readonly specificationVersion: "v1";
  /** The type errors, with their places in the code. Empty: none. */
  check(request: ReviewRequest): Promise<Finding[]>;
  /** Begins to load what a check needs, where code to check is sure to come. */
  prepare?(): void;
  /** Ends what checks. Safe to call twice. */
  dispose(): Promise<void>;
}
