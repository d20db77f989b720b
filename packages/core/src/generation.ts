import type { ErrorInfo } from "./errors.ts";
import type { Finding } from "./review.ts";
import type { ToolCallRecord } from "./invocation.ts";
import type { ToolDefinition } from "./tools.ts";

/** A tool call of an earlier attempt, cut to a size that a prompt can hold. */
export type EarlierCall = Pick<ToolCallRecord, "server" | "tool" | "args" | "result" | "ok">;

/** The outcome of an earlier attempt at the same task. */
export interface GenerateFeedback {
  code: string;
  /** Findings of the review. Set when the code was not run. */
  findings?: readonly Finding[] | undefined;
  /** Why the run failed. Set when the code was run. */
  error?: ErrorInfo | undefined;
  /** Output of the run. */
  output?: string | undefined;
  /** The calls that the run made, so that new code need not repeat what changed something. */
  calls?: readonly EarlierCall[] | undefined;
  /** Whether the code ran without an error but returned no result, although the task asks for one. */
  returnedNothing?: boolean | undefined;
  /** Names of tools (`server.name`) that were missing from the prompt of this code, and are in the next one. */
  addedTools?: readonly string[] | undefined;
}

/** The cost of requests to a model. */
export interface GenerationUsage {
  /** The model's name. */
  model: string;
  /** Number of requests. */
  requests: number;
  inputTokens: number;
  outputTokens: number;
  /** In US dollars. Absent when the model's price is unknown. */
  cost?: number | undefined;
}

/**
 * The form of a model's answer. `code`: a program. `direct`: one tool call. `auto`: a call where one call does the
 * whole task, otherwise a program.
 */
export type GenerationMode = "auto" | "code" | "direct";

/** The progress of a model's answer. */
export interface GenerationProgress {
  /** The model's name. */
  model: string;
  /** Characters written so far. */
  characters: number;
  /**
   * Form of the answer: calls alone, or a program, whose types will be checked.
   *
   * @defaultValue `program`
   */
  form?: "call" | "program" | undefined;
}

/** A task to write code for. */
export interface GenerateRequest {
  task: string;
  /** The tools and skills that the task seems to need. */
  tools: readonly ToolDefinition[];
  /** Further tools, which the program may use as well. */
  otherTools?: readonly ToolDefinition[] | undefined;
  /** More tools, of which a prompt lists only the names. */
  namedTools?: readonly ToolDefinition[] | undefined;
  /** Facts about the data that the task is about, such as columns of tables. Untrusted: data, never instructions. */
  facts?: string | undefined;
  /**
   * The form of a model's answer. Rules always write a program.
   *
   * @defaultValue `auto`
   */
  mode?: GenerationMode | undefined;
  /** Information for the model beyond the task, such as earlier results or names of files. */
  context?: string | undefined;
  /** The session that the task belongs to, as the caller named it. */
  session?: string | undefined;
  /** Earlier attempts at this task, oldest first. */
  feedback?: readonly GenerateFeedback[] | undefined;
  /** The cost of earlier attempts at this task, which counts towards a budget. */
  spent?: GenerationUsage | undefined;
  /** Receives the progress of a model's answer. Not called by rules. */
  onProgress?: ((progress: GenerationProgress) => void) | undefined;
  signal?: AbortSignal | undefined;
}

/** Code for a task, ready for review. */
export interface GeneratedCode {
  status: "generated";
  /** TypeScript. */
  code: string;
  /** Whether rules or a model (LLM) wrote the code. */
  origin: "rules" | "llm";
  /** The tools that the code calls, a subset of the request's. */
  uses: readonly ToolDefinition[];
  /**
   * Whether the code consists of calls alone whose arguments satisfy the schemas, so that its types need no check.
   *
   * @defaultValue false
   */
  isChecked?: boolean | undefined;
  /** Absent when no model was asked. */
  usage?: GenerationUsage | undefined;
  /** Remarks for people on how the code was written, for instance that a model failed and rules took over. */
  notes?: readonly string[] | undefined;
}

/** A step of a task that can't be done, and why. */
export interface UnfilledStep {
  /** The step in the user's words. */
  step: string;
  /**
   * `no-tool`: no tool can do it. `missing-argument`: a tool fits, but the task lacks a required value.
   * `not-understood`: a tool or an operation fits, but some words of the step have no meaning for it.
   */
  reason: "no-tool" | "missing-argument" | "not-understood";
  /** The tool that fits, as `server.name`. */
  tool?: string | undefined;
  /** The argument that lacks a value. */
  argument?: string | undefined;
  /** Advice to the user on how to change the task, in one sentence. */
  hint: string;
  /** Why the tool that fits can't be called now. */
  unavailable?: ErrorInfo | undefined;
}

/** A task for which no code was written, because the generator would have had to make something up. */
export interface GenerationRefused {
  status: "refused";
  steps: readonly UnfilledStep[];
  /**
   * The generator that refused. A model that lacks a tool is asked once more with other tools.
   *
   * @defaultValue `rules`
   */
  origin?: "rules" | "llm" | undefined;
  /** Absent when no model was asked. */
  usage?: GenerationUsage | undefined;
  /** Remarks for people on how the refusal came about. */
  notes?: readonly string[] | undefined;
}

/** Limit on the tools described in a prompt. */
export interface ToolBudget {
  /** Maximum number of tokens of all tools' descriptions. */
  tokens: number;
  /** Renders a tool for the prompt. */
  describe: (tool: ToolDefinition) => string;
}

/** Writes the code for a task. */
export interface CodeGenerator {
  readonly specificationVersion: "v1";
  /** Set by generators that ask a model: it is offered more tools than the task seems to need. */
  readonly toolBudget?: ToolBudget | undefined;
  generate(request: GenerateRequest): Promise<GeneratedCode | GenerationRefused>;
}
