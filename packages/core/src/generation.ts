import type { ToolDefinition } from "./tools.ts";

export interface GenerateRequest {
  task: string;
  /** The tools and skills the code may use. */
  tools: readonly ToolDefinition[];
  signal?: AbortSignal;
}

/** Code that is ready for review. */
export interface GeneratedCode {
  status: "generated";
  code: string;
  origin: "rules" | "llm";
  /** The tools the code calls, a subset of the request's. */
  uses: readonly ToolDefinition[];
}

/** One part of a task that can't be done, and why. */
export interface UnfilledStep {
  /** The step in the user's words. */
  step: string;
  /** `no-tool`: nothing here can do it. `missing-argument`: a tool fits, the text lacks a value it needs. */
  reason: "no-tool" | "missing-argument";
  tool?: string;
  argument?: string;
  /** What to say or add, in one sentence. */
  hint: string;
}

/** No code: something would have had to be invented. Nothing ran. */
export interface GenerationRefused {
  status: "refused";
  steps: readonly UnfilledStep[];
}

/** Writes the code for a task. */
export interface CodeGenerator {
  readonly specificationVersion: "v1";
  generate(request: GenerateRequest): Promise<GeneratedCode | GenerationRefused>;
}
