import type { JsonObject, JsonSchema, JsonValue } from "@cem/core";

/** How a failed step is tried again. */
export interface Retry {
  /** How often it is tried in all. */
  attempts: number;
  /** The pause before the second attempt. */
  delayMs: number;
  /** What the pause is multiplied by after each attempt. */
  backoff: number;
}

/** What follows a failure: one of these words, or the name of a later step to go on with. */
export const ON_ERROR = ["stop", "skip", "continue", "retry"] as const;

/** The path of a value in a workflow's file: `["steps", 2, "config"]`. */
export type DocumentPath = readonly (string | number)[];

/** A list of steps within a step. */
export interface StepBody {
  /** `then`, `else` or `steps`. */
  name: string;
  steps: readonly WorkflowStep[];
}

/** One step. */
export interface WorkflowStep {
  name: string;
  type: string;
  /** Without the bodies. Expressions stand in it as they were written. */
  config: JsonObject;
  bodies: readonly StepBody[];
  guardrails?: JsonObject | undefined;
  onError: string;
  retry: Retry;
  timeoutMs?: number | undefined;
  needs: readonly string[];
  /** Whether doing it twice does no more than doing it once. */
  isIdempotent?: boolean | undefined;
  /** Where it stands in its file. */
  path: DocumentPath;
}

/** A value that a run is given. */
export interface WorkflowVariable {
  schema: JsonSchema;
  /** Absent: it has to be given. */
  default?: JsonValue | undefined;
}

/** A checked workflow. */
export interface Workflow {
  name: string;
  description: string;
  version: string;
  variables: Readonly<Record<string, WorkflowVariable>>;
  steps: readonly WorkflowStep[];
  guardrails?: JsonObject | undefined;
  /** What a run comes to, by name, with expressions. Absent: the results of all steps. */
  outputs?: JsonObject | undefined;
  timeoutMs?: number | undefined;
  /** The most steps of one list at once. */
  maxParallel: number;
  /** Whether MCP clients see it as a tool. */
  isTool: boolean;
  /** What the file holds, as it is kept with a run. */
  source: JsonObject;
}
