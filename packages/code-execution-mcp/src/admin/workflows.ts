import { CemError } from "@cem/core";
import type { JsonObject } from "@cem/core";
import type { DrawnStep, Workflow } from "@cem/workflows";
import { createAgent } from "../create-agent.ts";
import type { ConfigSource } from "../options.ts";
import { openProject } from "../wiring/open-project.ts";
import { readSession } from "./records.ts";

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

/** Draws a workflow: in lines for a terminal, and as a flow chart of Mermaid. */
export async function drawWorkflow(workflow: Workflow): Promise<{ steps: DrawnStep[]; mermaid: string }> {
  const { drawWorkflow: draw, renderMermaid } = await import("@cem/workflows");
  return { steps: draw(workflow), mermaid: renderMermaid(workflow) };
}

/**
 * Makes a workflow of a logged task that worked.
 *
 * @param session - `session_001`, `1`, or `last`.
 * @param task - `task_001`. Default: the last of the session that worked.
 * @returns it as YAML and as data.
 * @throws CemError `SESSION_NOT_FOUND`, `WORKFLOW_INVALID`.
 */
export async function workflowFromSession(
  session: string,
  task: string | undefined,
  source: ConfigSource = {},
): Promise<{ workflow: JsonObject; yaml: string }> {
  const { session_id: id, tasks } = await readSession(session, source);
  const found =
    task === undefined
      ? tasks.findLast(({ error, code }) => error === null && code !== "")
      : tasks.find(({ task_id: one }) => one === task);
  if (found === undefined) {
    const which = task === undefined ? "no task that worked" : `no task ${JSON.stringify(task)}`;
    throw new CemError("WORKFLOW_INVALID", `${id} has ${which}.`, { details: { session: id, task } });
  }
  const { workflowFromTask, workflowToYaml } = await import("@cem/workflows");
  const agent = createAgent({ ...source, sessions: false });
  try {
    const workflow = workflowFromTask(found, await agent.discoverTools());
    return { workflow, yaml: workflowToYaml(workflow, `Made of ${found.task_id} of ${id}.`) };
  } finally {
    await agent.dispose();
  }
}
