import path from "node:path";
import type { Config } from "@cem/config";
import { CemError, Lazy, WORKFLOW_FILE, type Agent, type JsonObject, type WorkflowStepKind } from "@cem/core";
import type { ToolNames, WorkflowsSettings } from "@cem/workflows";
import type { AgentOptions } from "../../options.ts";
import { lazyHost, type Host, type OpenAgent } from "../calls/tool-host.ts";
import { redactorOf } from "../privacy/redaction.ts";
import { assertOutOfReach, type Project } from "../project.ts";
import { keptRunsOf } from "../records/run-records.ts";
import { tightenGuardrails, workflowFinder } from "./workflow-settings.ts";

export type OpenWorkflows = Awaited<ReturnType<typeof openConfiguredWorkflows>>;

export interface WorkflowParts {
  openAgent: OpenAgent;
  stepKinds?: readonly WorkflowStepKind[] | undefined;
  /** An existing agent, with the redactor of the options. */
  agent?: Agent | undefined;
  host?: Lazy<Host> | undefined;
}

/** Sets up the workflow engine. Agents with different guardrails are opened when a step needs one. */
export async function openConfiguredWorkflows(
  loaded: Project,
  options: AgentOptions,
  { openAgent, stepKinds = [], agent: given, host: hostOfGiven }: WorkflowParts,
) {
  const { createWorkflows } = await import("@cem/workflows");
  const { config } = loaded;
  const redactor = await redactorOf(loaded, options)?.get();
  // Workflow runs have their own journals.
  const agentOptions: AgentOptions = { ...options, redactor, sessions: false, resume: undefined };
  const host = hostOfGiven ?? lazyHost(loaded, agentOptions);
  const agent = given ?? openAgent(loaded, agentOptions, host);
  /** The agents of workflows and steps with different guardrails, keyed by the guardrails. */
  const others = new Map<string, Lazy<Agent>>();
  const agentWith = async (wanted: readonly JsonObject[]): Promise<Agent> => {
    const guardrails = await tightenGuardrails(config.guardrails, wanted);
    const key = JSON.stringify(guardrails);
    const own: Project = { ...loaded, config: { ...config, guardrails } };
    // Connections are shared, so that all steps of a run see the same server state. `changedTools` is a property of the
    // connections.
    const isConnected = guardrails.changedTools === config.guardrails.changedTools;
    const opened =
      others.get(key) ??
      new Lazy(async () =>
        openAgent(own, agentOptions, lazyHost(own, agentOptions, isConnected ? host : undefined)),
      );
    others.set(key, opened);
    return opened.get();
  };
  const { workspaceDir, workflowRunsDir } = config.execution;
  await assertOutOfReach(config, {
    folder: workflowRunsDir,
    what: "Runs of workflows",
    setting: "execution.workflow_runs_dir",
  });
  const { createFormStepKind } = await import("@cem/forms/workflow-step");
  const find = workflowFinder(config, loaded.folder);
  const workflows = createWorkflows({
    agent,
    runsDir: workflowRunsDir,
    ownerDir: loaded.owner?.home,
    redactor,
    stepKinds: [
      createFormStepKind({ workspace: workspaceDir }),
      ...((await loaded.pluginSet?.get())?.steps ?? []),
      ...stepKinds,
    ],
    find,
    toolNames: toolNamesOf(config),
    ...(options.trustFolder === false ? trustOf(loaded) : {}),
    agentWith,
    keep: keptRunsOf(config),
  });
  return {
    workflows,
    find,
    async dispose(): Promise<void> {
      await Promise.all([...others.values()].map(async (one) => (await one.settled())?.dispose()));
      if (given !== undefined) return;
      await agent.dispose();
      // An agent that ran nothing neither opened the host nor closes it.
      await (await host.settled())?.mcpTools.close();
      if (options.redactor === undefined) await redactor?.dispose();
    },
  };
}

/**
 * Holds back a workflow file with form or plugin steps until the user trusts its current content. Also holds back the
 * resumption of a run, unless it is the latest run of its workflow that was started or resumed here.
 */
function trustOf({ folder, trust }: Project): Pick<WorkflowsSettings, "allow" | "assertAllowed"> {
  const latestOf = (workflow: string): string => `latest run of ${workflow}`;
  return {
    async assertAllowed(name, workflow) {
      const file = path.resolve(folder, name);
      if (!WORKFLOW_FILE.test(name) || (await trust.hostTool(file, file)).held === undefined) return;
      if (workflow !== undefined && (await trust.hostTool(latestOf(workflow), file)).held === undefined)
        return;
      throw new CemError(
        "FOLDER_UNTRUSTED",
        `${name} is held back: steps of it reach out of the sandbox, and nobody said yes to the file as it is now.`,
        { details: { folder: file } },
      );
    },
    async allow(file, workflow) {
      const { item, held } = await trust.hostTool(latestOf(workflow), file);
      if (held === undefined) return;
      const { addTrust, trustFile } = await import("@cem/config");
      // If this can't be recorded, a resume asks.
      await addTrust(trustFile(process.env), trust.folder, [item]).catch(() => {});
    },
  };
}

function toolNamesOf({ toolMappings }: Config): ToolNames {
  return new Map(
    toolMappings.map(({ serverName, toolName, functionName, pythonFunctionName }) => [
      functionName ?? pythonFunctionName ?? toolName,
      { server: serverName, tool: toolName },
    ]),
  );
}
