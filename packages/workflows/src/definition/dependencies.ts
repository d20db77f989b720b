import type { Expression } from "../expressions/expression.ts";
import { expressionsIn, type FoundExpression } from "../expressions/template.ts";
import type { WorkflowStep } from "./workflow.ts";

/** The keys of `config` that are an expression as a whole, without `${{ }}`. */
const WHOLE: Readonly<Record<string, readonly string[]>> = {
  condition: ["condition"],
  loop: ["items", "while"],
};

/** The expressions of a step itself, without those of the steps within it. */
export function expressionsOf({ type, config, path }: WorkflowStep): FoundExpression[] {
  const whole = Object.hasOwn(WHOLE, type) ? (WHOLE[type] ?? []) : [];
  return Object.entries(config).flatMap(([key, value]) => {
    // Code is TypeScript, whose template strings look like expressions.
    if (type === "code_execution" && key === "code") return [];
    return expressionsIn(value, [...path, "config", key], whole.includes(key) && typeof value === "string");
  });
}

function referencesOf(step: WorkflowStep): Expression[] {
  const own = expressionsOf(step).flatMap(({ expression }) => expression ?? []);
  return [...own, ...step.bodies.flatMap(({ steps }) => steps.flatMap(referencesOf))];
}

export interface Dependencies {
  /** The steps it refers to or needs: it is skipped when one of them is. */
  requires: ReadonlySet<string>;
  /** These, plus the steps whose errors it reads, and the steps that may jump to it or past it when they fail. */
  waitsFor: ReadonlySet<string>;
}

export function dependenciesOf(steps: readonly WorkflowStep[]): Map<string, Dependencies> {
  const names = new Set(steps.map(({ name }) => name));
  const found = new Map(
    steps.map(({ name, needs }, index) => {
      const isOther = (other: string): boolean => names.has(other) && other !== name;
      const expressions = referencesOf(steps[index] as WorkflowStep);
      const requires = new Set([...needs, ...expressions.flatMap((one) => [...one.steps])].filter(isOther));
      const failed = expressions.flatMap(({ errors }) => [...errors]).filter(isOther);
      // `steps` or `errors` as a whole means all earlier steps.
      const before = expressions.some(({ usesAllSteps }) => usesAllSteps) ? steps.slice(0, index) : [];
      const senders = steps.filter(({ onError }) => onError === name);
      const waitsFor = new Set([...requires, ...failed, ...[...before, ...senders].map((step) => step.name)]);
      return [name, { requires, waitsFor }];
    }),
  );
  for (const step of steps) {
    const passed = names.has(step.onError) ? passedOver(steps, step) : [];
    // A step must not wait for one that waits for it.
    const earlier = passed.length === 0 ? new Set() : allBefore(step.name, found);
    for (const { name } of passed) if (!earlier.has(name)) found.get(name)?.waitsFor.add(step.name);
  }
  return found;
}

/** The steps between a step and the later one at which the run continues when it fails. Empty when it names no later step. */
export function passedOver(
  steps: readonly WorkflowStep[],
  { name, onError }: Pick<WorkflowStep, "name" | "onError">,
): WorkflowStep[] {
  const [from, target] = [name, onError].map((wanted) => steps.findIndex((step) => step.name === wanted));
  return steps.slice((from ?? -1) + 1, Math.max(0, target ?? 0));
}

/** All steps that end before one begins. */
function allBefore(name: string, found: ReadonlyMap<string, Dependencies>): Set<string> {
  const before = new Set<string>();
  const open = [name];
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    for (const other of found.get(one)?.waitsFor ?? []) {
      if (before.has(other)) continue;
      before.add(other);
      open.push(other);
    }
  }
  return before;
}
