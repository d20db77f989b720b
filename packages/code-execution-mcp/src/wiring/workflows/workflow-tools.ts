import { open } from "node:fs/promises";
import path from "node:path";
import type { Config } from "@cem/config";
import { CemError, Lazy } from "@cem/core";
import type { Agent, ExecuteOptions, JsonValue, TaskResult } from "@cem/core";
import { nearest } from "@cem/core/text";
import type { RunWorkflowTool, WorkflowTool } from "@cem/mcp-server";
import type { FindWorkflow, WorkflowEvent, WorkflowResult, WorkflowSource } from "@cem/workflows";
import type { AgentOptions } from "../../options.ts";
import type { Host } from "../calls/tool-host.ts";
import type { Project } from "../project.ts";
import { openConfiguredWorkflows } from "./workflows.ts";
import type { OpenWorkflows, WorkflowParts } from "./workflows.ts";

const WORKFLOW_FILE = /\.(?:ya?ml|json)$/iu;

/**
 * Finds workflows by their name in the configuration or by the path of their file.
 *
 * @param folder - Where relative paths start.
 */
export function workflowFinder({ workflows }: Pick<Config, "workflows">, folder: string): FindWorkflow {
  return async (name) => {
    const configured = workflows.find((workflow) => workflow.name === name);
    if (configured !== undefined) return configuredSource(configured);
    if (WORKFLOW_FILE.test(name)) return readSource(path.resolve(folder, name), name);
    const names = workflows.map((workflow) => workflow.name);
    const [meant] = nearest(name, names);
    const known = names.length === 0 ? "None is configured." : `There are: ${names.join(", ")}.`;
    const question = meant === undefined ? known : `Did you mean ${JSON.stringify(meant)}?`;
    throw new CemError("WORKFLOW_NOT_FOUND", `There is no workflow ${JSON.stringify(name)}. ${question}`, {
      details: { workflow: name, known: names },
    });
  };
}

/** A workflow of the configuration, as a file would have it. */
export function configuredSource(workflow: Config["workflows"][number]): WorkflowSource {
  const { steps, ...rest } = workflow;
  const value = { ...snakeKeys(rest), steps: steps.map(snakeKeys) };
  // A loaded configuration has members that are undefined.
  return { value: JSON.parse(JSON.stringify(value)) as JsonValue, origin: `workflow ${workflow.name}` };
}

/** The names of its own settings; what they hold is the workflow's. */
function snakeKeys(settings: object): object {
  return Object.fromEntries(
    Object.entries(settings).map(([key, value]) => [
      key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value as unknown,
    ]),
  );
}

/** @throws CemError `WORKFLOW_NOT_FOUND`, `WORKFLOW_INVALID` for a file that is too large. */
async function readSource(file: string, name: string): Promise<WorkflowSource> {
  const { MAX_WORKFLOW_BYTES, workflowTooLarge } = await import("@cem/workflows");
  try {
    await using handle = await open(file);
    const { size } = await handle.stat();
    if (size > MAX_WORKFLOW_BYTES) throw workflowTooLarge(name, size);
    return { text: await handle.readFile("utf8"), origin: name };
  } catch (error) {
    if (CemError.isInstance(error)) throw error;
    const reason =
      (error as NodeJS.ErrnoException).code === "ENOENT" ? "the file does not exist" : String(error);
    throw new CemError("WORKFLOW_NOT_FOUND", `The workflow ${name} can't be read: ${reason}.`, {
      details: { workflow: name },
      cause: error,
    });
  }
}

/** The workflows of a configuration that MCP clients see as tools. */
export interface WorkflowTools {
  /** @throws CemError `WORKFLOW_INVALID` */
  list(): Promise<WorkflowTool[]>;
  run: RunWorkflowTool;
  /** What carries them out. */
  open(): Promise<OpenWorkflows>;
  dispose(): Promise<void>;
}

/** Sets up the workflows that are tools. Where there are none, nothing is loaded. */
export function createWorkflowTools(
  loaded: Project,
  options: AgentOptions,
  parts: Pick<WorkflowParts, "openAgent"> & { agent: Agent; host: Lazy<Host> },
): WorkflowTools {
  const marked = loaded.config.workflows.filter(({ mcpTool }) => mcpTool);
  const opened = new Lazy<OpenWorkflows>(() => openConfiguredWorkflows(loaded, options, parts));
  return {
    async list() {
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
    async run(name, variables, { signal, onElicit, onApprove, onEvent, session }) {
      const { workflows, find } = await opened.get();
      const result = await workflows.run(await find(name), {
        variables,
        signal,
        onElicit,
        onApprove,
        session,
        onEvent: onEvent && ((event) => tellProgress(event, onEvent)),
      });
      return toTaskResult(result);
    },
    open: () => opened.get(),
    dispose: async () => (await opened.settled())?.dispose(),
  };
}

/** Tells of a run's steps as of a tool's progress. */
function tellProgress(event: WorkflowEvent, onEvent: NonNullable<ExecuteOptions["onEvent"]>): void {
  if (event.type !== "step-completed") return;
  onEvent({
    type: "tool-progressed",
    server: "workflow",
    tool: event.step,
    progress: { progress: 0, message: `${event.step} done` },
  });
}

/** A workflow's run as the result of a task. */
function toTaskResult({ run, status, outputs, error, ms }: WorkflowResult): TaskResult {
  const isDone = status === "completed";
  return {
    status: isDone ? "success" : error?.code === "WORKFLOW_TIMED_OUT" ? "timeout" : "error",
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
