import type { DrawnStep, Workflow } from "@cem/workflows";
import type { ConfigSource } from "../options.ts";
import { openProject } from "../wiring/open-project.ts";

/** A workflow of the configuration, in short. */
export interface ConfiguredWorkflow {
  name: string;
  description: string;
  version: string;
  steps: number;
  mcpTool: boolean;
}

/** Lists the workflows of the configuration. */
export async function listWorkflows(source: ConfigSource = {}): Promise<ConfiguredWorkflow[]> {
  const { config } = await openProject(source);
  return config.workflows.map(({ name, description = "", version, steps, mcpTool }) => ({
    name,
    description,
    version,
    steps: steps.length,
    mcpTool,
  }));
}

/** Draws a workflow in lines for a terminal. */
export async function drawWorkflow(workflow: Workflow): Promise<DrawnStep[]> {
  return (await import("@cem/workflows")).drawWorkflow(workflow);
}
