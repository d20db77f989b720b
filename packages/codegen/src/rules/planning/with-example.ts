import { toolId, type ToolDefinition, type UnfilledStep } from "@cem/core";
import { exampleOrder } from "../grammar/calls/example-order.ts";
import { planTask } from "./plan-task.ts";

/** Adds to a refusal a sentence for its tool that works: the rules are run on it. */
export function withExample(
  step: UnfilledStep,
  tools: readonly ToolDefinition[],
  now: () => Date,
): UnfilledStep {
  const tool = step.reason === "no-tool" ? undefined : tools.find((one) => toolId(one) === step.tool);
  if (tool === undefined) return step;
  const order = exampleOrder(tool);
  const { plan, unfilled } = planTask(order, tools, now);
  const works = unfilled.length === 0 && plan.uses.size === 1 && plan.uses.has(tool);
  return works ? { ...step, hint: `${step.hint} For instance: ${order}.` } : step;
}
