import type { UnfilledStep } from "@cem/core";
import { type Plan, Unfilled } from "./plan.ts";
import type { Reading } from "./reading.ts";
import type { Production, Step } from "./step.ts";

/** The best way to understand a step, whatever the order of the productions. */
export function readStep(
  step: Step,
  plan: Plan,
  productions: readonly Production[],
): Reading | UnfilledStep | undefined {
  const readings: Reading[] = [];
  const refusals: UnfilledStep[] = [];
  for (const production of productions) {
    try {
      const reading = production(step, plan);
      if (reading !== undefined) readings.push(reading);
    } catch (error) {
      if (!(error instanceof Unfilled)) throw error;
      refusals.push(error.step);
    }
  }
  return best(readings) ?? mostTelling(refusals);
}

function best(readings: readonly Reading[]): Reading | undefined {
  return readings.toSorted((a, b) => b.rank - a.rank || (a.kind < b.kind ? -1 : 1))[0];
}

/** Work of the grammar's own that lacks something says most, then a tool; of several the one with the shortest words. */
function mostTelling(refusals: readonly UnfilledStep[]): UnfilledStep | undefined {
  const score = ({ tool, argument = "" }: UnfilledStep): number =>
    (tool === undefined ? 0 : 1_000) + argument.length;
  return refusals.toSorted((a, b) => score(a) - score(b) || (a.hint < b.hint ? -1 : 1))[0];
}
