import { splitWords, type TaskStep } from "@cem/text";
import { kindOfTool } from "../matching/verb-classes.ts";
import type { ToolMatch } from "../matching/match-tools.ts";
import type { Plan } from "../planning/plan.ts";

/** One step while it is being planned. */
export interface StepContext {
  step: TaskStep;
  plan: Plan;
  /** The tools that suit the step, best first. */
  matches: readonly ToolMatch[];
}

/** Plans a step if it is of its kind: `true` when it did. Throws `Unfilled` when it is, but something lacks. */
export type Operation = (context: StepContext) => boolean;

/** Whether a tool suits the step so well that no plain operation may take it. */
export function isForTool({ matches }: StepContext): boolean {
  return matches[0]?.isStrong ?? false;
}

/** The same for work on earlier results: a tool that only calculates is no rival there. */
export function isForOtherTool({ matches }: StepContext): boolean {
  return matches.some((match) => match.isStrong && kindOfTool(splitWords(match.tool.name)) !== "compute");
}
