import type { CodeGenerator, GeneratedCode, GenerateRequest, GenerationRefused } from "@cem/core";
import { finishProgram } from "./planning/finish.ts";
import { planTask } from "./planning/plan-task.ts";
import { printProgram } from "./program/print-program.ts";

export interface RulesGeneratorSettings {
  /** What "today" and "tomorrow" are counted from. The clock of this machine unless set. */
  now?: (() => Date) | undefined;
}

/**
 * Writes code by rules: splits the task into steps, gives each to a tool or to a plain operation, and fills the
 * arguments from the text and from earlier results. The same request gives the same code. What can't be filled is
 * refused with the step and the argument; nothing is made up.
 */
export function createRulesGenerator(settings: RulesGeneratorSettings = {}): CodeGenerator {
  const now = settings.now ?? (() => new Date());
  return {
    specificationVersion: "v1",
    // oxlint-disable-next-line typescript/require-await -- the port is asynchronous; a rejection is its way to fail.
    async generate(request: GenerateRequest): Promise<GeneratedCode | GenerationRefused> {
      request.signal?.throwIfAborted();
      const { plan, unfilled } = planTask(request.task, request.tools, now, request.signal);
      if (unfilled.length > 0) return { status: "refused", steps: unfilled };
      return {
        status: "generated",
        code: printProgram(finishProgram(plan)),
        origin: "rules",
        uses: [...plan.uses],
      };
    },
  };
}
