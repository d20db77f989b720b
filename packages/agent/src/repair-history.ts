import { toolId } from "@cem/core";
import type {
  ErrorInfo,
  Finding,
  GenerateFeedback,
  GeneratedCode,
  GenerationRefused,
  GenerationUsage,
  JsonValue,
  RunOutcome,
  ToolCallRecord,
  ToolDefinition,
} from "@cem/core";
import { unknownFieldsIn, type Ending } from "./ending.ts";

/** Limits that repaired code may stay within. A run that was cancelled, or whose sandbox broke, is not repaired. */
const REPAIRABLE_KILLS = new Set([
  "output-flood",
  "call-limit",
  "payload-limit",
  "write-limit",
  "workspace-quota",
]);

export interface AttemptOutcome {
  code: string;
  ending: Ending;
  findings: readonly Finding[];
  /** `undefined` when the code was not run. */
  outcome: RunOutcome | undefined;
  expectsValue: boolean;
}

const NO_RESULT = "The code returned nothing.";

/** The attempts to write code for one task, with their outcomes and total cost. */
export class RepairHistory {
  /** Feedback to the generator on failed attempts, oldest first. */
  readonly feedback: GenerateFeedback[] = [];
  readonly calls: ToolCallRecord[] = [];
  readonly notes: string[] = [];
  /** The cost of all attempts. `undefined` when no model was asked. */
  usage: GenerationUsage | undefined;
  /** How often code was written. */
  attempts = 0;
  readonly #maxAttempts: number;
  readonly #seen = new Set<string>();

  constructor(maxRepairs: number) {
    this.#maxAttempts = maxRepairs + 1;
  }

  get ranBefore(): boolean {
    return this.feedback.some(
      ({ error, returnedNothing }) => error !== undefined || returnedNothing === true,
    );
  }

  /** Adds the cost and the notes of a generation, and counts it if it wrote code. */
  recordGeneration({ status, usage, notes = [] }: GeneratedCode | GenerationRefused): void {
    if (usage !== undefined) this.usage = this.usage === undefined ? usage : sum(this.usage, usage);
    this.notes.push(...notes);
    if (status === "generated") this.attempts += 1;
  }

  /**
   * Adds the outcome of an attempt and decides whether to repair its code.
   *
   * @returns why the code is to be repaired. `undefined` if it is not: it worked, other code would not change the outcome,
   *   the maximum number of attempts is reached, or the outcome repeats an earlier one.
   */
  recordOutcome({ code, ending, findings, outcome, expectsValue }: AttemptOutcome): string | undefined {
    const { error } = ending;
    const reason = error?.message ?? (expectsValue && isEmpty(outcome, findings) ? NO_RESULT : undefined);
    if (reason === undefined || !isRepairable(outcome)) return undefined;
    this.feedback.push(feedbackOf(code, error, findings, outcome));
    const message = reason.replaceAll(/\bLine \d+\b/gu, "Line");
    const isRepeated = this.#seen.has(message) || this.#seen.has(code);
    this.#seen.add(message).add(code);
    return isRepeated || this.attempts >= this.#maxAttempts ? undefined : reason;
  }

  /** Adds the tools that a repair is offered in addition to those of the last attempt. */
  recordAddedTools(tools: readonly ToolDefinition[]): void {
    const last = this.feedback.at(-1);
    if (last !== undefined && tools.length > 0) last.addedTools = tools.map(toolId);
  }
}

function feedbackOf(
  code: string,
  error: ErrorInfo | null,
  findings: readonly Finding[],
  outcome: RunOutcome | undefined,
): GenerateFeedback {
  if (outcome === undefined) return { code, findings };
  const { output, toolCalls } = outcome;
  const suspicions = unknownFieldsIn(findings);
  return {
    code,
    ...(suspicions.length > 0 && { findings: suspicions }),
    ...(error === null ? { returnedNothing: true } : { error }),
    output,
    calls: toolCalls.map(({ server, tool, args, result, ok }) => ({ server, tool, args, result, ok })),
  };
}

/** Whether a run completed without output and with nothing but null values, also within lists and objects. */
function isEmpty(outcome: RunOutcome | undefined, findings: readonly Finding[]): boolean {
  if (outcome?.status !== "completed") return false;
  const { output, outputDroppedBytes, value } = outcome;
  const isSilent = output === "" && outputDroppedBytes === 0;
  return isSilent && isHollow(value ?? null, unknownFieldsIn(findings).length > 0);
}

/** Whether a value contains nothing but null. Missing fields are left out of objects, which may then be empty. */
function isHollow(value: JsonValue, lacksFields: boolean): boolean {
  if (typeof value !== "object" || value === null) return value === null;
  const parts = Object.values(value);
  if (parts.length === 0) return lacksFields && !Array.isArray(value);
  return parts.every((part) => isHollow(part, lacksFields));
}

function isRepairable(outcome: RunOutcome | undefined): boolean {
  if (outcome === undefined) return true;
  // A person's refusal is final: repaired code would only ask again, or use another tool for the same effect.
  if (outcome.toolCalls.some(({ error }) => error?.code === "NOT_APPROVED")) return false;
  if (outcome.status === "killed") return REPAIRABLE_KILLS.has(outcome.reason);
  return outcome.status !== "refused";
}

function sum(a: GenerationUsage, b: GenerationUsage): GenerationUsage {
  return {
    model: b.model,
    requests: a.requests + b.requests,
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cost: a.cost === undefined || b.cost === undefined ? undefined : a.cost + b.cost,
  };
}
