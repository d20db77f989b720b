import { FairGate } from "@cem/core";
import type { JsonObject } from "@cem/core";
import { dependenciesOf, passedOver } from "../definition/dependencies.ts";
import type { Dependencies } from "../definition/dependencies.ts";
import type { WorkflowStep } from "../definition/workflow.ts";
import { firstFailure, toError } from "./failures.ts";
import type { ListRequest, StepEnd } from "./requests.ts";
import { StepRun } from "./step-run.ts";

/** Dependencies by list: that of a loop is run many times. */
const known = new WeakMap<readonly WorkflowStep[], Map<string, Dependencies>>();

/**
 * Runs the steps of a list, each when those it depends on have ended. When one fails that stops the list, those under way
 * are finished and no more begun.
 *
 * @returns the results by name.
 * @throws CemError the error of the step that stopped the list; RunInterrupted.
 */
export async function runList(request: ListRequest): Promise<JsonObject> {
  return new ListRun(request).run();
}

class ListRun {
  readonly #request: ListRequest;
  readonly #dependencies: ReadonlyMap<string, Dependencies>;
  /** The steps that are left out. */
  readonly #skipped = new Set<string>();
  /** The failures that end the list, in their order. */
  readonly #failures: unknown[] = [];

  constructor(request: ListRequest) {
    this.#request = request;
    let dependencies = known.get(request.steps);
    if (dependencies === undefined) known.set(request.steps, (dependencies = dependenciesOf(request.steps)));
    this.#dependencies = dependencies;
  }

  async run(): Promise<JsonObject> {
    const { steps, scope, workflow } = this.#request;
    const gate = new FairGate(workflow.maxParallel);
    const ends = new Map<string, PromiseWithResolvers<void>>(
      steps.map(({ name }) => [name, Promise.withResolvers<void>()]),
    );
    await Promise.all(
      steps.map(async (step) => {
        const waitsFor = [...(this.#dependencies.get(step.name)?.waitsFor ?? [])];
        for (const name of waitsFor) await ends.get(name)?.promise;
        const leave = await gate.enter({ session: this });
        await this.#runStep(step).finally(leave);
        ends.get(step.name)?.resolve();
      }),
    );
    if (this.#failures.length > 0) throw firstFailure(this.#failures);
    return Object.fromEntries(steps.map(({ name }) => [name, scope.steps[name] ?? null]));
  }

  async #runStep(step: WorkflowStep): Promise<void> {
    if (this.#failures.length > 0) return;
    const { execution, workflow, at, scope, prefix } = this.#request;
    const { name } = step;
    const run = new StepRun({
      execution,
      workflow,
      step,
      outer: scope,
      at,
      path: `${prefix}${name}`,
      runList,
    });
    try {
      const end = this.#isLeftOut(step) ? run.leaveOut() : await run.run();
      this.#note(step, end);
    } catch (error) {
      this.#failures.push(error);
    }
  }

  #isLeftOut({ name }: WorkflowStep): boolean {
    if (this.#skipped.has(name)) return true;
    const requires = this.#dependencies.get(name)?.requires ?? [];
    const { steps } = this.#request;
    return [...requires].some((required) => {
      if (!this.#skipped.has(required)) return false;
      // A step that is the target of another's failure can refer to that one.
      return steps.find((step) => step.name === required)?.onError !== name;
    });
  }

  #note({ name, onError }: WorkflowStep, end: StepEnd): void {
    const { scope, steps } = this.#request;
    if (end.error !== undefined) scope.errors[name] = { code: end.error.code, message: end.error.message };
    if (end.status === "error") {
      this.#failures.push(toError(end.error));
      return;
    }
    scope.steps[name] = end.status === "success" ? end.value : null;
    if (end.status !== "skipped") return;
    this.#skipped.add(name);
    if (end.error === undefined) return;
    for (const between of passedOver(steps, { name, onError })) this.#skipped.add(between.name);
  }
}
