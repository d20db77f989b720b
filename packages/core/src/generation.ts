import type { ErrorInfo } from "./errors.ts";
import type { Finding } from "./review.ts";
import type { ToolDefinition } from "./tools.ts";

/** A call that an earlier try made. Arguments and results are cut to a size a prompt can hold. */
export interface EarlierCall {
  server: string;
  tool: string;
  /** As JSON text, perhaps only its beginning. */
  args?: string | undefined;
  result?: string | undefined;
  ok: boolean;
}

/** What became of an earlier try at the same task. */
export interface GenerateFeedback {
  code: string;
  /** Why the code was not run. */
  findings?: readonly Finding[] | undefined;
  /** Why the run failed. */
  error?: ErrorInfo | undefined;
  output?: string | undefined;
  /** The calls that already happened, so that writes are not repeated blindly. */
  calls?: readonly EarlierCall[] | undefined;
}

/** What writing the code cost. */
export interface GenerationUsage {
  model: string;
  requests: number;
  inputTokens: number;
  outputTokens: number;
  /** In US dollars. Absent where the price is not known. */
  cost?: number | undefined;
}

/**
 * What a model may answer with. `code`: a program. `direct`: one tool call. `auto`: a call where that alone does the
 * task, which is shorter, else a program.
 */
export type GenerationMode = "auto" | "code" | "direct";

/** How far a model has come. */
export interface GenerationProgress {
  model: string;
  /** Characters written so far. */
  characters: number;
}

export interface GenerateRequest {
  task: string;
  /** The tools and skills the code may use. */
  tools: readonly ToolDefinition[];
  /** Default: `auto`. Rules, which cost no tokens, always write code. */
  mode?: GenerationMode | undefined;
  /** What the caller knows beyond the task: earlier results, names of files. */
  context?: string | undefined;
  /** Earlier tries, oldest first. */
  feedback?: readonly GenerateFeedback[] | undefined;
  /** What earlier tries at this task cost, which counts against a budget. */
  spent?: GenerationUsage | undefined;
  onProgress?: ((progress: GenerationProgress) => void) | undefined;
  signal?: AbortSignal | undefined;
}

/** Code that is ready for review. */
export interface GeneratedCode {
  status: "generated";
  code: string;
  origin: "rules" | "llm";
  /** The tools the code calls, a subset of the request's. */
  uses: readonly ToolDefinition[];
  usage?: GenerationUsage | undefined;
  /** What a person should know of how the code came about: that a model failed and the rules took over. */
  notes?: readonly string[] | undefined;
}

/** One part of a task that can't be done, and why. */
export interface UnfilledStep {
  /** The step in the user's words. */
  step: string;
  /** `no-tool`: nothing here can do it. `missing-argument`: a tool fits, the text lacks a value it needs. */
  reason: "no-tool" | "missing-argument";
  tool?: string | undefined;
  argument?: string | undefined;
  /** What to say or add, in one sentence. */
  hint: string;
  /** Why the tool that fits can't be called now. */
  unavailable?: ErrorInfo | undefined;
}

/** No code: something would have had to be invented. Nothing ran. */
export interface GenerationRefused {
  status: "refused";
  steps: readonly UnfilledStep[];
  usage?: GenerationUsage | undefined;
  /** As of generated code. */
  notes?: readonly string[] | undefined;
}

/** Writes the code for a task. */
export interface CodeGenerator {
  readonly specificationVersion: "v1";
  generate(request: GenerateRequest): Promise<GeneratedCode | GenerationRefused>;
}
