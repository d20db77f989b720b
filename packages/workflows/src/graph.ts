import { dependenciesOf } from "./definition/dependencies.ts";
import type { Workflow, WorkflowStep } from "./definition/workflow.ts";

const MAX_DETAIL_CHARACTERS = 60;

/** A line of the drawing in a terminal. */
export interface DrawnStep {
  /** Its nesting depth. */
  depth: number;
  /** Its group within its list: steps of one group can run concurrently. */
  group: number;
  text: string;
  detail: string;
  /** The steps of its list that it waits for. */
  after: readonly string[];
}

/** Draws a workflow in lines, in the order in which its steps can run: those of one group concurrently. */
export function drawWorkflow({ steps }: Pick<Workflow, "steps">, depth = 0): DrawnStep[] {
  const waits = new Map([...dependenciesOf(steps)].map(([name, { waitsFor }]) => [name, [...waitsFor]]));
  const groups = groupsOf(waits);
  const groupOf = ({ name }: WorkflowStep): number => groups.get(name) ?? 0;
  return steps
    .toSorted((one, other) => groupOf(one) - groupOf(other))
    .flatMap((step) => {
      const after = waits.get(step.name) ?? [];
      const waiting = after.length === 0 ? "" : `  after ${after.join(", ")}`;
      const fails = waits.has(step.onError) ? `  fails to ${step.onError}` : "";
      const detail = `${detailOf(step)}${waiting}${fails}`;
      return [
        { depth, group: groupOf(step) + 1, text: step.name, detail, after },
        ...step.bodies.flatMap((body) => [
          { depth: depth + 1, group: 0, text: body.name, detail: "", after: [] },
          ...drawWorkflow(body, depth + 2),
        ]),
      ];
    });
}

/** The number of groups of steps that must end before each step can begin. */
function groupsOf(waits: ReadonlyMap<string, readonly string[]>): Map<string, number> {
  const groups = new Map<string, number>();
  const open = [...waits.keys()];
  // Not recursive: a list may be a chain of thousands.
  for (let name = open.at(-1); name !== undefined; name = open.at(-1)) {
    const before = waits.get(name) ?? [];
    const missing = before.filter((one) => !groups.has(one));
    if (missing.length > 0) open.push(...missing);
    else {
      open.pop();
      groups.set(name, Math.max(-1, ...before.map((one) => groups.get(one) ?? 0)) + 1);
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
      if (config["while"] !== undefined) return short(`while ${textOf(config["while"])}`);
      return short(`for each of ${textOf(config["items"])}`);
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
