import { Lazy, type Agent, type ExecuteOptions, type TaskResult } from "@cem/core";
import type { RunWorkflowTool, WorkflowTool } from "@cem/mcp-server";
import type { WorkflowEvent, WorkflowResult } from "@cem/workflows";
import type { AgentOptions } from "../../options.ts";
import type { Host } from "../calls/tool-host.ts";
import type { Project } from "../project.ts";
import { configuredSource } from "./workflow-settings.ts";
import { openConfiguredWorkflows, type OpenWorkflows, type WorkflowParts } from "./workflows.ts";

/** The workflows of a configuration that MCP clients see as tools. */
export type WorkflowTools = ReturnType<typeof createWorkflowTools>;

/** Sets up the workflows that are exposed as tools. Loads nothing if there are none. */
export function createWorkflowTools(
  loaded: Project,
  options: AgentOptions,
  parts: Pick<WorkflowParts, "openAgent"> & { agent: Agent; host: Lazy<Host> },
) {
  const marked = loaded.config.workflows.filter(({ mcpTool }) => mcpTool);
  const opened = new Lazy<OpenWorkflows>(() => openConfiguredWorkflows(loaded, options, parts));
  const run: RunWorkflowTool = async (name, variables, { signal, onElicit, onApprove, onEvent, session }) => {
    const { workflows, find } = await opened.get();
    // It no longer waits for its turn, even if its first step takes long.
    onEvent?.({ type: "stage-started", stage: "run" });
    const result = await workflows.run(await find(name), {
      variables,
      signal,
      onElicit,
      onApprove,
      session,
      onEvent: onEvent && ((event) => tellProgress(event, onEvent)),
    });
    return toTaskResult(result);
  };
  return {
    /** @throws CemError `WORKFLOW_INVALID` */
    async list(): Promise<WorkflowTool[]> {
      if (marked.length === 0) return [];
      const { inputSchemaOf } = await import("@cem/workflows");
      const { workflows } = await opened.get();
      return Promise.all(
        marked.map(async (workflow) => {
          const { workflow: checked } = await workflows.load(configuredSource(workflow));
          const { name, description } = checked;
          const about = description === "" ? `Run the workflow ${name}.` : description;
          return { name, description: about, inputSchema: inputSchemaOf(checked) };
        }),
      );
    },
    run,
    open: () => opened.get(),
    dispose: async () => (await opened.settled())?.dispose(),
  };
}

function tellProgress(event: WorkflowEvent, onEvent: NonNullable<ExecuteOptions["onEvent"]>): void {
  if (event.type !== "step-completed") return;
  onEvent({
    type: "tool-progressed",
    server: "workflow",
    tool: event.step,
    progress: { progress: 0, message: `${event.step} done` },
  });
}

function toTaskResult({ run, status, outputs, error, ms }: WorkflowResult): TaskResult {
  const isDone = status === "success";
  return {
    status: isDone || status === "timeout" ? status : "error",
    value: isDone ? outputs : null,
    output: "",
    outputDroppedBytes: 0,
    error,
    code: "",
    origin: "given",
    selectedTools: [],
    availableTools: 0,
    toolCalls: [],
    isolation: null,
    timings: { total: ms },
    contextTokens: { direct: 0, used: 0, saved: 0 },
    notes: isDone ? [] : [`The run ${run} of the workflow is ${status}.`],
  };
}
