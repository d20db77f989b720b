import { DefinitionProblems } from "@cem/config/definitions";
import type { WorkflowStepKind } from "@cem/core";
import { checkWorkflow } from "./check-workflow.ts";
import { parseWorkflow } from "./parse-workflow.ts";
import type { Workflow, WorkflowSource, WorkflowStep } from "./workflow.ts";

/** Finds the workflow that a step of type `workflow` names. @throws CemError `WORKFLOW_NOT_FOUND` */
export type FindWorkflow = (name: string) => Promise<WorkflowSource>;

/** A checked workflow with all workflows that are part of it. */
export interface LoadedWorkflow {
  workflow: Workflow;
  /** The workflows that are part of it, by the names that steps use. */
  parts: ReadonlyMap<string, Workflow>;
}

/** Checks a workflow and all workflows that are part of it. `checkFurther` adds to the problems of each of them. */
export async function loadWorkflow(
  source: WorkflowSource,
  kinds: ReadonlyMap<string, WorkflowStepKind>,
  find: FindWorkflow,
  checkFurther?: (workflow: Workflow, problems: DefinitionProblems) => Promise<void>,
): Promise<LoadedWorkflow> {
  const parts = new Map<string, Workflow>();
  const read = async (one: WorkflowSource): Promise<Workflow> => {
    const parsed = parseWorkflow(one);
    const workflow = await checkWorkflow(parsed, kinds);
    await checkFurther?.(workflow, parsed.problems);
    parsed.problems.throwIfAny();
    return workflow;
  };
  const loadParts = async (workflow: Workflow, origin: string, way: readonly string[]): Promise<void> => {
    for (const step of partSteps(workflow.steps)) {
      const name = step.config["workflow"] as string;
      if (way.includes(name)) {
        const circle = [...way.slice(way.indexOf(name)), name].join(" → ");
        const problems = new DefinitionProblems("WORKFLOW_INVALID", origin);
        problems.add([step.name], `is part of itself: ${circle}.`);
        problems.throwIfAny();
      }
      if (parts.has(name)) continue;
      const found = await find(name);
      const part = await read(found);
      await loadParts(part, found.origin, [...way, name]);
      parts.set(name, part);
    }
  };
  const workflow = await read(source);
  await loadParts(workflow, source.origin, [workflow.name]);
  return { workflow, parts };
}

function partSteps(steps: readonly WorkflowStep[]): WorkflowStep[] {
  return steps.flatMap((step) => [
    ...(step.type === "workflow" ? [step] : []),
    ...step.bodies.flatMap((body) => partSteps(body.steps)),
  ]);
}
