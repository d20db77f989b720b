import { toolId, type ToolDefinition } from "@cem/core";
import type { FilledArguments } from "./filling.ts";
import { enumOf, type Parameter } from "./parameters.ts";
import { Unfilled } from "../../planning/plan.ts";

/** What to tell when a tool fits and the text lacks a value, or has a wrong one. */
export function refusal(step: string, tool: ToolDefinition, filled: FilledArguments): Unfilled {
  const parameter = filled.wrong?.parameter ?? filled.missing[0];
  const allowed = parameter === undefined ? [] : enumOf(parameter.schema);
  const choices = allowed.length > 0 ? ` It is one of ${allowed.slice(0, 12).join(", ")}.` : "";
  const hint =
    filled.wrong === undefined
      ? `${toolId(tool)} needs ${filled.missing.map((one) => describe(one)).join(" and ")}. Say it in the task.${choices}`
      : `"${filled.wrong.value.slice(0, 60)}" is no ${filled.wrong.parameter.name} of ${toolId(tool)}.${choices}`;
  return new Unfilled({
    step,
    reason: "missing-argument",
    tool: toolId(tool),
    argument: parameter?.name ?? "",
    hint,
  });
}

/** What to tell when a step asks for more than the tool does. */
export function unread(step: string, tool: ToolDefinition, words: readonly string[]): Unfilled {
  const [first = ""] = words;
  return new Unfilled({
    step,
    reason: "not-understood",
    tool: toolId(tool),
    argument: first,
    hint: `${toolId(tool)} is there, but what "${words.join(" ").slice(0, 80)}" asks of it was not understood. Make it a step of its own, or leave it out.`,
  });
}

/** What to tell when only a tool that changes something would fit, and the step orders no change. */
export function changeNotOrdered(step: string, tool: ToolDefinition): Unfilled {
  return new Unfilled({
    step,
    reason: "no-tool",
    tool: toolId(tool),
    hint: `Only ${toolId(tool)} fits, and it changes something, which this step does not order. Say so with a verb such as its own, or ask for something else.`,
  });
}

function describe(parameter: Parameter): string {
  const description = (parameter.schema.description ?? "").split(/[.;:\n]/u)[0]?.trim() ?? "";
  return description === "" ? parameter.name : `${parameter.name} (${description.slice(0, 80)})`;
}
