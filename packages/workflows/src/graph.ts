import { dependenciesOf } from "./definition/dependencies.ts";
import type { Workflow, WorkflowStep } from "./definition/workflow.ts";

/** A step in a drawing. */
export interface GraphStep {
  name: string;
  type: string;
  /** Its call or decision, in short. */
  detail: string;
  /** The steps of its list that it waits for. */
  waitsFor: readonly string[];
  /** The step that follows when it fails. */
  onError?: string | undefined;
  bodies: readonly { name: string; steps: readonly GraphStep[] }[];
}

const MAX_DETAIL_CHARACTERS = 60;

/** The steps of a workflow with what they wait for. */
function graphOf({ steps }: Pick<Workflow, "steps">): GraphStep[] {
  const dependencies = dependenciesOf(steps);
  const names = new Set(steps.map(({ name }) => name));
  return steps.map((step) => ({
    name: step.name,
    type: step.type,
    detail: detailOf(step),
    // A step that is the target of another's failure does not wait for it as for a result.
    waitsFor: [...(dependencies.get(step.name)?.requires ?? [])],
    onError: names.has(step.onError) ? step.onError : undefined,
    bodies: step.bodies.map((body) => ({ name: body.name, steps: graphOf(body) })),
  }));
}

/** A line of the drawing for a terminal. */
export interface DrawnStep {
  /** How deep it stands. */
  depth: number;
  /** In which group of its list: those of one group can run at once. */
  group: number;
  text: string;
  detail: string;
  /** The steps of its list that it waits for. */
  after: readonly string[];
}

/** Draws a workflow in lines, in the order its steps can run: those of one group at once. */
export function drawWorkflow(workflow: Pick<Workflow, "steps">): DrawnStep[] {
  const draw = (steps: readonly GraphStep[], depth: number): DrawnStep[] => {
    const groups = groupsOf(steps);
    return steps
      .toSorted((one, other) => (groups.get(one.name) ?? 0) - (groups.get(other.name) ?? 0))
      .flatMap((step) => {
        const after = step.waitsFor.length === 0 ? "" : `  after ${step.waitsFor.join(", ")}`;
        const fails = step.onError === undefined ? "" : `  fails to ${step.onError}`;
        return [
          {
            depth,
            group: (groups.get(step.name) ?? 0) + 1,
            text: step.name,
            detail: `${step.detail}${after}${fails}`,
            after: step.waitsFor,
          },
          ...step.bodies.flatMap((body) => [
            { depth: depth + 1, group: 0, text: body.name, detail: "", after: [] },
            ...draw(body.steps, depth + 2),
          ]),
        ];
      });
  };
  return draw(graphOf(workflow), 0);
}

/** How many groups of steps have to end before each can begin. */
function groupsOf(steps: readonly GraphStep[]): Map<string, number> {
  const byName = new Map(steps.map((step) => [step.name, step]));
  const groups = new Map<string, number>();
  const open = steps.map(({ name }) => name);
  // Without recursion: a list may be a chain of thousands.
  for (let name = open.at(-1); name !== undefined; name = open.at(-1)) {
    const waitsFor = byName.get(name)?.waitsFor ?? [];
    const missing = waitsFor.filter((before) => !groups.has(before));
    if (missing.length > 0) open.push(...missing);
    else {
      open.pop();
      groups.set(name, Math.max(-1, ...waitsFor.map((before) => groups.get(before) ?? 0)) + 1);
    }
  }
  return groups;
}

function detailOf({ type, config }: WorkflowStep): string {
  switch (type) {
    case "tool_call":
      return short([config["server"], config["tool"]].filter((part) => typeof part === "string").join("."));
    case "condition":
      return short(`if ${textOf(config["condition"])}`);
    case "loop":
      return short(
        config["while"] === undefined
          ? `for each of ${textOf(config["items"])}`
          : `while ${textOf(config["while"])}`,
      );
    case "workflow":
      return short(`workflow ${textOf(config["workflow"])}`);
    case "code_execution":
      return "code";
    default:
      return type;
  }
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

function short(text: string): string {
  const line = text.replaceAll(/\s+/gu, " ");
  return line.length > MAX_DETAIL_CHARACTERS ? `${line.slice(0, MAX_DETAIL_CHARACTERS)}…` : line;
}
