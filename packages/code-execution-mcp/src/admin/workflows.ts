import type { DrawnStep, Workflow } from "@cem/workflows";
import type { ConfigSource } from "../options.ts";
import { openProject } from "../wiring/open-project.ts";
import { summarizeWorkflows } from "../wiring/workflows/workflow-settings.ts";
import type { ConfiguredWorkflow } from "../wiring/workflows/workflow-settings.ts";

/** Lists the workflows of the configuration. */
export async function listWorkflows(source: ConfigSource = {}): Promise<ConfiguredWorkflow[]> {
  return summarizeWorkflows((await openProject(source)).config);
}

/** Draws a workflow in lines for a terminal. */
export async function drawWorkflow(workflow: Workflow): Promise<DrawnStep[]> {
  return (await import("@cem/workflows")).drawWorkflow(workflow);
}
