import type { Elicit } from "./elicitation.ts";
import type { ToolCall, ToolProgress } from "./invocation.ts";
import type { JsonObject, JsonSchema, JsonValue } from "./json.ts";

/** What a step of a workflow works with. Everything it does to the world goes through here. */
export interface WorkflowStepContext {
  /** The name of the step. */
  readonly step: string;
  /** Aborts when the step's time is over, or its run is cancelled. */
  readonly signal: AbortSignal;
  /**
   * Identifies the work of the step: the same for each attempt, also after a resume, and never used for other work. For
   * targets that carry out a request once for each key.
   */
  readonly idempotencyKey: string;
  /** A folder of the run, which exists, for files that the step keeps. */
  readonly folder: string;
  /** The variables of the workflow by name, with tokens in place of personal values. */
  readonly variables: Readonly<JsonObject>;
  /**
   * Calls a tool as code in the sandbox does: allowed, validated, approved, with values in place of tokens.
   *
   * @returns the tool's value, with tokens in place of personal values.
   * @throws CemError the error of the call.
   */
  callTool(call: ToolCall): Promise<JsonValue>;
  /**
   * Reviews code and runs it in the sandbox.
   *
   * @param code - TypeScript, whose value is what it exports as default or returns at the top level.
   * @param inputs - What the code finds in its constant `inputs`.
   * @returns its value, with tokens in place of personal values.
   * @throws CemError why it was refused or failed.
   */
  runCode(code: string, inputs?: JsonObject): Promise<JsonValue>;
  /** Asks the user of the run. Answers `cancel` with a reason where nobody can be asked. */
  readonly ask: Elicit;
  /** Puts tokens in the place of personal values. Of what a step returns this is done anyway. */
  tokenize(data: JsonValue): Promise<JsonValue>;
  /**
   * Keeps a value that is known to be personal, also where nothing in it tells, and returns its token. Absent where there
   * are no tokens.
   *
   * @param type - The kind of value: upper case, digits and underscores.
   */
  keep?(value: string | number, type: string): string;
  /**
   * Puts personal values in the place of tokens, for the target that the rules of data flow know by these names.
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
  /** What steps have as their `type`. */
  readonly name: string;
  /** The schema of the step's `config`, in which expressions may stand in the place of values. */
  readonly configSchema: JsonSchema;
  /**
   * Whether doing it twice does no more than doing it once. A step that may have run is repeated only where this or its
   * own `idempotent` says so.
   *
   * @defaultValue false
   */
  readonly isIdempotent?: boolean | undefined;
  /**
   * What a step would do, for a dry run, in one line each. Must not do anything.
   *
   * @defaultValue the name of the kind
   */
  plan?(config: JsonObject): readonly string[];
  /**
   * Carries out a step.
   *
   * @param config - Its `config`, with the values of its expressions.
   * @returns what later steps find as its result.
   * @throws why it failed, which the step's `on_error` is about.
   */
  run(config: JsonObject, context: WorkflowStepContext): Promise<JsonValue>;
}
