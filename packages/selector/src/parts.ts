import { splitSteps } from "@cem/core/text";
import { MAX_PARTS } from "./ranking.ts";

/** A part of a task that is searched on its own. */
export interface Part {
  text: string;
  /** Whether it is the condition of a step. Conditions are mostly about results. */
  isCondition: boolean;
}

/** Splits a task into its conditions and steps, in order. A task of one step is left as it is. */
export function partsOf(task: string): Part[] {
  const parts: Part[] = [];
  const seen = new Set<string>();
  const steps = splitSteps(task);
  const [only] = steps;
  if (steps.length === 1 && only?.condition === undefined) {
    return [{ text: task, isCondition: false }];
  }
  for (const step of steps) {
    const condition = step.condition?.text ?? "";
    for (const [text, isCondition] of [
      [condition, true],
      [[step.text, ...step.items].join("\n"), false],
    ] as const) {
      if (text !== "" && !seen.has(text) && parts.length < MAX_PARTS) {
        seen.add(text);
        parts.push({ text, isCondition });
      }
    }
  }
  return parts;
}
