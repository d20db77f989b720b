import { toErrorInfo } from "@cem/core";
import type { CatalogSnapshot, ErrorInfo, JsonObject, JsonValue, WorkflowStepKind } from "@cem/core";
import type { LoadedWorkflow } from "./definition/load-workflow.ts";
import type { Workflow, WorkflowStep } from "./definition/workflow.ts";
import { resolve } from "./expressions/template.ts";
import { findTool } from "./steps/call-code.ts";
import type { ToolNames } from "./steps/call-code.ts";

const MAX_SHOWN_CHARACTERS = 300;

/** The plan of a step. */
export interface PlannedStep {
  /** Its path: `loop[].send` for a step of a loop. */
  step: string;
  type: string;
  /** Its actions, in lines. Expressions that depend on results are left as written. */
  does: readonly string[];
  /** Why it can't do that. */
  problem?: ErrorInfo | undefined;
}

interface PlanSettings {
  catalog: CatalogSnapshot;
  toolNames: ToolNames;
  kinds: ReadonlyMap<string, WorkflowStepKind>;
}

/** Plans a run, as far as it is known before. Both branches of conditions are included. */
export function planWorkflow(
  { workflow, parts }: LoadedWorkflow,
  variables: JsonObject,
  settings: PlanSettings,
): PlannedStep[] {
  const planList = (steps: readonly WorkflowStep[], prefix: string, known: JsonObject): PlannedStep[] =>
    steps.flatMap((step) => {
      const path = `${prefix}${step.name}`;
      const config = fillKnown(step.config, known) as JsonObject;
      const part = step.type === "workflow" ? parts.get(config["workflow"] as string) : undefined;
      const within = step.type === "loop" ? `${path}[].` : `${path}.`;
      return [
        { step: path, type: step.type, ...describe(step, config, settings) },
        ...step.bodies.flatMap((body) => planList(body.steps, within, known)),
        ...(part === undefined ? [] : planList(part.steps, `${path}.`, ofPart(part, config))),
      ];
    });
  return planList(workflow.steps, "", variables);
}

/** The variables of a part, as far as they are known. */
function ofPart({ variables }: Workflow, config: JsonObject): JsonObject {
  const given = (config["variables"] ?? {}) as JsonObject;
  return Object.fromEntries(
    Object.entries(variables).map(([name, variable]) => [name, given[name] ?? variable.default ?? null]),
  );
}

function describe(
  { type }: WorkflowStep,
  config: JsonObject,
  { catalog, kinds, toolNames }: PlanSettings,
): Pick<PlannedStep, "does" | "problem"> {
  try {
    switch (type) {
      case "tool_call": {
        const { server, tool, arguments: args = {} } = config;
        const wanted = { server: server as string | undefined, tool: tool as string };
        const found = findTool(wanted, catalog, toolNames);
        return { does: [`call ${found.server}.${found.name} with ${shown(args)}`] };
      }
      case "code_execution":
        return {
          does: [
            "run code",
            ...(config["code"] as string)
              .trimEnd()
              .split("\n")
              .map((line) => `  ${line}`),
          ],
        };
      case "condition":
        return { does: [`if ${shown(config["condition"] ?? null)}`] };
      case "loop":
        return {
          does: [
            config["while"] === undefined
              ? `for each of ${shown(config["items"] ?? [])}`
              : `while ${shown(config["while"])}`,
          ],
        };
      case "workflow":
        return {
          does: [
            `run workflow ${shown(config["workflow"] ?? null)} with ${shown(config["variables"] ?? {})}`,
          ],
        };
      default:
        return { does: kinds.get(type)?.plan?.(config) ?? [type] };
    }
  } catch (error) {
    return { does: [], problem: toErrorInfo(error) };
  }
}

/** Fills in what the variables tell, and leaves the rest. */
function fillKnown(value: JsonValue, variables: JsonObject): JsonValue {
  if (Array.isArray(value)) return value.map((item) => fillKnown(item, variables));
  if (typeof value === "object" && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fillKnown(item, variables)]));
  try {
    return resolve(value, { variables });
  } catch {
    return value;
  }
}

function shown(value: JsonValue): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, MAX_SHOWN_CHARACTERS)}…` : text;
}
