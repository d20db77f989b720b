import type { CodeGenerator, GeneratedCode, GenerateRequest, GenerationRefused } from "@cem/core";
import { prepareDates } from "./grammar/calls/dates.ts";
import { finishProgram } from "./planning/finish.ts";
import { planTask } from "./planning/plan-task.ts";
import { withExample } from "./planning/with-example.ts";
import { printProgram } from "./program/print-program.ts";

/** Settings of {@link createRulesGenerator}. */
export interface RulesGeneratorSettings {
  /**
   * The clock that "today" and "tomorrow" are read from.
   *
   * @defaultValue the system clock
   */
  now?: (() => Date) | undefined;
}

/**
 * Creates a generator that writes code by rules: it splits the task into steps, assigns each to a tool or to a plain
 * operation, and fills the arguments from the text and from earlier results.
 *
 * It is deterministic and needs neither a model nor a network. A task with a step that can't be filled is refused with
 * the step and the missing argument; no value is invented.
 */
export function createRulesGenerator(settings: RulesGeneratorSettings = {}): CodeGenerator {
  const now = settings.now ?? (() => new Date());
  return {
    specificationVersion: "v1",
    async generate(request: GenerateRequest): Promise<GeneratedCode | GenerationRefused> {
      request.signal?.throwIfAborted();
      await prepareDates(request.task);
      const { plan, unfilled } = planTask(request.task, request.tools, now, request.signal);
      if (unfilled.length > 0) {
        return { status: "refused", steps: unfilled.map((step) => withExample(step, request.tools, now)) };
      }
      return {
        status: "generated",
        code: printProgram(finishProgram(plan)),
        origin: "rules",
        uses: [...plan.uses],
      };
    },
  };
}
