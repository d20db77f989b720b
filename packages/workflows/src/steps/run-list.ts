import { FairGate, fromErrorInfo, type JsonObject } from "@cem/core";
import { dependenciesOf, passedOver, type Dependencies } from "../definition/dependencies.ts";
import type { WorkflowStep } from "../definition/workflow.ts";
import { firstFailure } from "./failures.ts";
import type { ListRequest, StepEnd } from "./requests.ts";
import { runStep } from "./step-run.ts";

/** Cached dependencies by list: a loop's list runs many times. */
const known = new WeakMap<readonly WorkflowStep[], Map<string, Dependencies>>();

/** Runs each step of a list when those it depends on have ended. After a failure, none are begun. @returns the results by name. */
export async function runList(request: ListRequest): Promise<JsonObject> {
  const { execution, workflow, at, steps, scope, prefix } = request;
  const dependencies = known.get(steps) ?? dependenciesOf(steps);
  known.set(steps, dependencies);
  const skipped = new Set<string>();
  const failures: unknown[] = [];

  const isLeftOut = ({ name }: WorkflowStep): boolean => {
    if (skipped.has(name)) return true;
    const requires = dependencies.get(name)?.requires ?? [];
    return [...requires].some((required) => {
      if (!skipped.has(required)) return false;
      // A step that is the jump target of a failed step can refer to the failed one.
      return steps.find((step) => step.name === required)?.onError !== name;
    });
  };

  const note = ({ name, onError }: WorkflowStep, end: StepEnd): void => {
    if (end.error !== undefined) scope.errors[name] = { code: end.error.code, message: end.error.message };
    if (end.status === "error") {
      failures.push(fromErrorInfo(end.error));
      return;
    }
    scope.steps[name] = end.status === "success" ? end.value : null;
    if (end.status !== "skipped") return;
    skipped.add(name);
    if (end.error === undefined) return;
    for (const between of passedOver(steps, { name, onError })) skipped.add(between.name);
  };

  const run = async (step: WorkflowStep): Promise<void> => {
    if (failures.length > 0) return;
    const path = `${prefix}${step.name}`;
    const settings = { execution, workflow, step, outer: scope, at, path, runList };
    try {
      note(step, await runStep({ ...settings, isLeftOut: isLeftOut(step) }));
    } catch (error) {
      failures.push(error);
    }
  };

  const gate = new FairGate(workflow.maxParallel);
  const ends = new Map(steps.map(({ name }) => [name, Promise.withResolvers<void>()]));
  await Promise.all(
    steps.map(async (step) => {
      const waitsFor = [...(dependencies.get(step.name)?.waitsFor ?? [])];
      for (const name of waitsFor) await ends.get(name)?.promise;
      const leave = await gate.enter({ session: request });
      await run(step).finally(leave);
      ends.get(step.name)?.resolve();
    }),
  );
  if (failures.length > 0) throw firstFailure(failures);
  return Object.fromEntries(steps.map(({ name }) => [name, scope.steps[name] ?? null]));
}
