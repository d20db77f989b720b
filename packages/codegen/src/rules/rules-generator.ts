import type { CodeGenerator } from "@cem/core";
import { literal, object, type Expression } from "./program/expression.ts";
import { printProgram } from "./program/print-program.ts";
import type { Plan } from "./planning/plan.ts";
import { prepareDates } from "./calls/fill-kinds.ts";
import { MAX_TASK_CHARACTERS, planTask } from "./tasks/plan-task.ts";

/** The results that are not used by another result: a single one as is, several as an object by name. */
function chooseValue(plan: Plan): Expression {
  const open = plan.values.filter((value) => !value.consumed);
  const [only] = open;
  if (only === undefined)
    return plan.lastPath === undefined ? literal(true) : object({ path: literal(plan.lastPath) });
  if (open.length === 1) return only.expression;
  return object(Object.fromEntries(open.map((value) => [value.name, value.expression])));
}

/** Settings of {@link createRulesGenerator}. */
export interface RulesGeneratorSettings {
  /**
   * The clock for "today" and "tomorrow".
   *
   * @defaultValue the system clock
   */
  now?: (() => Date) | undefined;
}

/**
 * Creates a generator that writes code by rules: it splits the task into steps, and interprets each as a tool call, a
 * calculation, or an operation on files and rows. Arguments are values in the text or results of earlier steps.
 *
 * It is deterministic and needs neither a model nor a network. A task with a word that it can't interpret is refused,
 * naming the step and the word. Values are never invented.
 */
export function createRulesGenerator(settings: RulesGeneratorSettings = {}): CodeGenerator {
  const now = settings.now ?? (() => new Date());
  return {
    specificationVersion: "v1",
    async generate({ task, tools, otherTools = [], signal }) {
      signal?.throwIfAborted();
      if (task.length <= MAX_TASK_CHARACTERS) await prepareDates(task);
      let { plan, unfilled } = planTask(task, tools, now, signal);
      if (unfilled !== undefined && otherTools.length > 0)
        ({ plan, unfilled } = planTask(task, [...tools, ...otherTools], now, signal));
      if (unfilled !== undefined) return { status: "refused", steps: [unfilled] };
      plan.flush();
      const code = printProgram({ imports: plan.imports, statements: plan.block, value: chooseValue(plan) });
      return { status: "generated", code, origin: "rules", uses: [...plan.uses] };
    },
  };
}
