import { splitSteps } from "@cem/text";
import { MAX_PARTS } from "./ranking.ts";

/** A piece of a task that is searched by itself. */
export interface Part {
  text: string;
  /** What must hold for a step to be done: it mostly speaks of a result. */
  isCondition: boolean;
}

/** The conditions and steps of a task, in their order. A task of one step is taken as it was written. */
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
