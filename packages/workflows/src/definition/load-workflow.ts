import { DefinitionProblems } from "@cem/config/yaml";
import type { JsonObject, WorkflowStepKind } from "@cem/core";
import { checkWorkflow } from "./check-workflow.ts";
import { parseWorkflowText, parseWorkflowValue } from "./parse-workflow.ts";
import type { Workflow, WorkflowStep } from "./workflow.ts";

/** A workflow as it is written: text in YAML or JSON, or data. */
export type WorkflowSource = {
  /** A file's name or another one, for messages. */
  origin: string;
} & ({ text: string } | { value: unknown });

/** Finds the workflow that a step of type `workflow` names. @throws CemError `WORKFLOW_NOT_FOUND` */
export type FindWorkflow = (name: string) => Promise<WorkflowSource>;

/** A checked workflow with all that are part of it. */
export interface LoadedWorkflow {
  workflow: Workflow;
  /** By the names that steps call them. */
  parts: ReadonlyMap<string, Workflow>;
}

/**
 * Checks a workflow and all that are part of it.
 *
 * @param checkFurther - Adds to the problems of each of them.
 * @throws CemError `WORKFLOW_INVALID` with the line of each error, also for a circle of workflows; `WORKFLOW_NOT_FOUND`.
 */
export async function loadWorkflow(
  source: WorkflowSource,
  kinds: ReadonlyMap<string, WorkflowStepKind>,
  find: FindWorkflow,
  checkFurther?: (workflow: Workflow, problems: DefinitionProblems) => Promise<void>,
): Promise<LoadedWorkflow> {
  const parts = new Map<string, Workflow>();
  const read = async (one: WorkflowSource): Promise<Workflow> => {
    const parsed =
      "text" in one ? parseWorkflowText(one.text, one.origin) : parseWorkflowValue(one.value, one.origin);
    const workflow = checkWorkflow(parsed, kinds);
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

/** The definitions that a run keeps of the workflows that are part of its own. */
export function sourcesOf(parts: ReadonlyMap<string, Workflow>): Record<string, JsonObject> {
  return Object.fromEntries([...parts].map(([name, { source }]) => [name, source]));
}

function partSteps(steps: readonly WorkflowStep[]): WorkflowStep[] {
  return steps.flatMap((step) => [
    ...(step.type === "workflow" ? [step] : []),
    ...step.bodies.flatMap((body) => partSteps(body.steps)),
  ]);
}
