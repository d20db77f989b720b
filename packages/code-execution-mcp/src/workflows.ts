import { assertKnownOptions, type JsonObject, type WorkflowStepKind } from "@cem/core";
import type { RunWorkflowOptions, WorkflowResult, Workflows } from "@cem/workflows";
import { createLoadedAgent, loadLogged } from "./create-agent.ts";
import { AGENT_OPTIONS, type AgentOptions } from "./options.ts";
import { openConfiguredWorkflows } from "./wiring/workflows/workflows.ts";

/** Options of {@link openWorkflows}. */
export interface WorkflowOptions extends AgentOptions {
  /** Step types in addition to the built-in ones. */
  stepKinds?: readonly WorkflowStepKind[] | undefined;
}

/** Workflows that run with their own agent. */
export interface OwnWorkflows extends Omit<Workflows, "load" | "validate" | "run"> {
  /**
   * Runs a workflow.
   *
   * @param workflow - Its name in the configuration, the path of its file, or its definition.
   */
  run(workflow: string | JsonObject, options?: RunWorkflowOptions): ReturnType<Workflows["run"]>;
  /** Checks a workflow. */
  load(workflow: string | JsonObject): ReturnType<Workflows["load"]>;
  /** Checks a workflow, its tools and its code. */
  validate(workflow: string | JsonObject): ReturnType<Workflows["validate"]>;
  dispose(): Promise<void>;
}

const WORKFLOW_OPTIONS = { ...AGENT_OPTIONS, stepKinds: "a list" } as const satisfies Record<
  keyof WorkflowOptions,
  unknown
>;

/**
 * Opens the workflow engine that the configuration sets up.
 *
 * @throws CemError `OPTION_INVALID`, `CONFIG_INVALID` and other codes of a broken set-up.
 */
export async function openWorkflows(options: WorkflowOptions = {}): Promise<OwnWorkflows> {
  assertKnownOptions(options, WORKFLOW_OPTIONS, "openWorkflows");
  const { stepKinds, ...agentOptions } = options;
  const loaded = await loadLogged(agentOptions);
  const parts = { stepKinds, openAgent: createLoadedAgent };
  const opened = await openConfiguredWorkflows(loaded, agentOptions, parts);
  const { workflows, find } = opened;
  const sourceOf = async (workflow: string | JsonObject): ReturnType<typeof find> =>
    typeof workflow === "string" ? find(workflow) : { value: workflow, origin: "workflow" };
  const asked = { onElicit: options.onElicit, onApprove: options.onApprove };
  return {
    run: async (workflow, given) => workflows.run(await sourceOf(workflow), { ...asked, ...given }),
    load: async (workflow) => workflows.load(await sourceOf(workflow)),
    validate: async (workflow) => workflows.validate(await sourceOf(workflow)),
    resume: (run, given) => workflows.resume(run, { ...asked, ...given }),
    cancel: (run) => workflows.cancel(run),
    list: () => workflows.list(),
    show: (run) => workflows.show(run),
    async dispose() {
      await opened.dispose();
      await loaded[Symbol.asyncDispose]();
    },
  };
}

/**
 * Runs one workflow with an agent of its own. For more than one use {@link openWorkflows}.
 *
 * @param workflow - Its name in the configuration, the path of its file, or its definition.
 * @returns the result, also of a run that fails.
 * @throws CemError `WORKFLOW_INVALID` with the line of each error, `WORKFLOW_NOT_FOUND`, `WORKFLOW_VARIABLES_INVALID`.
 */
export async function runWorkflow(
  workflow: string | JsonObject,
  options: WorkflowOptions & RunWorkflowOptions = {},
): Promise<WorkflowResult> {
  const { variables, signal, onEvent, session, ...own } = options;
  const workflows = await openWorkflows(own);
  try {
    return await workflows.run(workflow, { variables, signal, onEvent, session });
  } finally {
    await workflows.dispose();
  }
}
