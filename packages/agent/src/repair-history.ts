import type {
  EarlierCall,
  Finding,
  GenerateFeedback,
  GenerationUsage,
  RunOutcome,
  ToolCallRecord,
} from "@cem/core";
import type { Ending } from "./outcome.ts";

/** Ends of a run that other code may not come to. A run that was cancelled, or whose sandbox broke, is none. */
const REPAIRABLE_KILLS = new Set(["output-flood", "call-limit", "payload-limit", "write-limit"]);

/** The tries at one task: what each came to, what they cost together, and whether another is worth it. */
export class RepairHistory {
  readonly feedback: GenerateFeedback[] = [];
  /** All calls of all tries, in order. */
  readonly calls: ToolCallRecord[] = [];
  usage: GenerationUsage | undefined;
  /** How often code was written. */
  count = 0;
  readonly #most: number;
  readonly #seen = new Set<string>();

  constructor(maxRepairs: number) {
    this.#most = maxRepairs + 1;
  }

  spend(usage: GenerationUsage | undefined): void {
    if (usage !== undefined) this.usage = this.usage === undefined ? usage : sum(this.usage, usage);
  }

  /** Whether any of the code has run. */
  get ran(): boolean {
    return this.feedback.some(({ error }) => error !== undefined);
  }

  /**
   * Takes in what a try came to, and says why another is worth it; `undefined` when none is: it worked, nothing other
   * would come of it, the tries are used up, or it came to the same as one before.
   */
  next(code: string, ending: Ending, findings: readonly Finding[], outcome?: RunOutcome): string | undefined {
    const { error } = ending;
    if (error === null || !isRepairable(outcome)) return undefined;
    const feedback: GenerateFeedback =
      outcome === undefined
        ? { code, findings }
        : { code, error, output: outcome.output, calls: outcome.toolCalls.map(earlierCall) };
    this.feedback.push(feedback);
    const message = error.message.replaceAll(/\bLine \d+\b/gu, "Line");
    const repeated = this.#seen.has(message) || this.#seen.has(code);
    this.#seen.add(message).add(code);
    return repeated || this.count >= this.#most ? undefined : error.message;
  }
}

function isRepairable(outcome: RunOutcome | undefined): boolean {
  if (outcome === undefined) return true;
  if (outcome.status === "killed") return REPAIRABLE_KILLS.has(outcome.reason);
  return outcome.status !== "refused";
}

function earlierCall({ server, tool, args, result, ok }: ToolCallRecord): EarlierCall {
  return {
    server,
    tool,
    ok,
    ...(args !== undefined && { args }),
    ...(result !== undefined && { result }),
  };
}

function sum(a: GenerationUsage, b: GenerationUsage): GenerationUsage {
  const usage = {
    model: b.model,
    requests: a.requests + b.requests,
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
  };
  return a.cost === undefined || b.cost === undefined ? usage : { ...usage, cost: a.cost + b.cost };
}
