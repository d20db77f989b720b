import type { Elicit } from "./questions.ts";
import type { ToolCall, ToolProgress } from "./invocation.ts";
import type { JsonObject, JsonSchema, JsonValue } from "./json.ts";

/** The path of a workflow's file; any other text names a workflow of the configuration. */
export const WORKFLOW_FILE = /\.(?:ya?ml|json)$/iu;

/** Context of a workflow step. All effects of the step go through it. */
export interface WorkflowStepContext {
  /** The name of the step. */
  readonly step: string;
  /** Aborts when the step times out or its run is cancelled. */
  readonly signal: AbortSignal;
  /**
   * Identifies the work of the step: the same for each attempt, also after a resume, and never used for other work. For
   * targets that execute a request once for each key.
   */
  readonly idempotencyKey: string;
  /** An existing folder of the run, for files that the step keeps. */
  readonly folder: string;
  /** The variables of the workflow by name, with tokens in place of personal data. */
  readonly variables: Readonly<JsonObject>;
  /**
   * Calls a tool as code in the sandbox does: allowed, validated, approved, with tokens replaced by values.
   *
   * @returns the tool's value, with tokens in place of personal data.
   * @throws CemError the error of the call.
   */
  callTool(call: ToolCall): Promise<JsonValue>;
  /**
   * Reviews code and runs it in the sandbox.
   *
   * @param code - TypeScript, whose value is what it exports as default or returns at the top level.
   * @param inputs - The value of the constant `inputs` in the code.
   * @returns its value, with tokens in place of personal data.
   * @throws CemError the reason why it was refused or failed.
   */
  runCode(code: string, inputs?: JsonObject): Promise<JsonValue>;
  /** Asks the user of the run. Answers `cancel` with a reason where nobody can be asked. */
  readonly ask: Elicit;
  /** Replaces personal data by tokens. The result of a step is tokenized anyway. */
  tokenize(data: JsonValue): Promise<JsonValue>;
  /**
   * Stores a value that is known to be personal, even if no detector would find it, and returns its token. Absent where
   * there are no tokens.
   *
   * @param type - The kind of value: upper case, digits and underscores.
   */
  keep?(value: string | number, type: string): string;
  /**
   * Replaces tokens by personal data, for the target that the flow rules know by these names.
   *
   * @throws CemError `TOKEN_UNKNOWN` or `FLOW_DENIED`.
   */
  detokenize(data: JsonValue, target: { server: string; tool: string }): Promise<JsonValue>;
  /** Reports what the step has done so far. */
  progress(progress: ToolProgress): void;
  /** Writes a line to the run's events. */
  log(message: string): void;
}

/** A type of step that workflows can have beside the built-in ones. */
export interface WorkflowStepKind {
  readonly specificationVersion: "v1";
  /** The `type` of its steps. */
  readonly name: string;
  /** The schema of the step's `config`, in which expressions may replace values. */
  readonly configSchema: JsonSchema;
  /**
   * Whether its steps are idempotent. A step that may have run is repeated only when this or its own `idempotent` says
   * so.
   *
   * @defaultValue false
   */
  readonly isIdempotent?: boolean | undefined;
  /**
   * Executes a step.
   *
   * @param config - Its `config`, with the values of its expressions.
   * @returns the result of the step, for later steps.
   * @throws the error of the step, which its `on_error` handles. A CemError with `isUncertain: true` in its details says that the
   * step may have been executed.
   */
  run(config: JsonObject, context: WorkflowStepContext): Promise<JsonValue>;
}
