import path from "node:path";
import type { Config } from "@cem/config";
import { CemError, Lazy, WORKFLOW_FILE } from "@cem/core";
import type { Agent, JsonObject, WorkflowStepKind } from "@cem/core";
import type { FindWorkflow, ToolNames, Workflows } from "@cem/workflows";
import type { AgentOptions } from "../../options.ts";
import { lazyHost } from "../calls/tool-host.ts";
import type { Host } from "../calls/tool-host.ts";
import { assertOutOfReach } from "../places.ts";
import { redactorOf } from "../privacy/redaction.ts";
import type { Project } from "../project.ts";
import { tightenGuardrails, workflowFinder } from "./workflow-settings.ts";

/** The workflow engine of a configuration, with the lookup of its workflows. */
export interface OpenWorkflows {
  workflows: Workflows;
  find: FindWorkflow;
  dispose(): Promise<void>;
}

/** Opens an agent of a configuration. */
type OpenAgent = (loaded: Project, options: AgentOptions, host: Lazy<Host>) => Agent;

export interface WorkflowParts {
  openAgent: OpenAgent;
  stepKinds?: readonly WorkflowStepKind[] | undefined;
  /** An agent that is there already, with the redactor of the options. */
  agent?: Agent | undefined;
  /** The host side of that agent. */
  host?: Lazy<Host> | undefined;
}

/** Sets up the workflow engine. Agents with guardrails of their own are opened when a step wants one. */
export async function openConfiguredWorkflows(
  loaded: Project,
  options: AgentOptions,
  { openAgent, stepKinds = [], agent: given, host: hostOfGiven }: WorkflowParts,
): Promise<OpenWorkflows> {
  const { createWorkflows } = await import("@cem/workflows");
  const { config } = loaded;
  const redactor = await redactorOf(loaded, options)?.get();
  // Runs are kept in journals of their own.
  const agentOptions: AgentOptions = { ...options, redactor, sessions: false, resume: undefined };
  const host = hostOfGiven ?? lazyHost(loaded, agentOptions);
  const agent = given ?? openAgent(loaded, agentOptions, host);
  const others = new AgentsByGuardrails(loaded, agentOptions, { openAgent, host });
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
    assertAllowed: options.trustFolder === false ? async (name) => assertTrusted(name, loaded) : undefined,
    agentWith: (guardrails) => others.get(guardrails),
  });
  return {
    workflows,
    find,
    async dispose() {
      await others.dispose();
      if (given !== undefined) return;
      await agent.dispose();
      // An agent that ran nothing did not open it, and does not close it.
      await (await host.settled())?.mcpTools.close();
      if (options.redactor === undefined) await redactor?.dispose();
    },
  };
}

/**
 * Holds back a file whose steps fill in forms or do what a plugin adds, until the user says yes to it as it is.
 *
 * @throws CemError `FOLDER_UNTRUSTED`
 */
async function assertTrusted(name: string, { folder, trust }: Project): Promise<void> {
  const file = path.resolve(folder, name);
  if (!WORKFLOW_FILE.test(name) || (await trust.hostTool(file, file)).held === undefined) return;
  throw new CemError(
    "FOLDER_UNTRUSTED",
    `${name} is held back: steps of it reach out of the sandbox, and nobody said yes to the file as it is now.`,
    { details: { folder: file } },
  );
}

/** The agents of workflows and steps that have guardrails of their own, one for each set of them. */
class AgentsByGuardrails {
  readonly #loaded: Project;
  readonly #options: AgentOptions;
  readonly #openAgent: OpenAgent;
  readonly #host: Lazy<Host>;
  readonly #agents = new Map<string, Lazy<Agent>>();

  constructor(
    loaded: Project,
    options: AgentOptions,
    { openAgent, host }: { openAgent: OpenAgent; host: Lazy<Host> },
  ) {
    this.#loaded = loaded;
    this.#options = options;
    this.#openAgent = openAgent;
    this.#host = host;
  }

  /** @throws CemError `WORKFLOW_INVALID` for guardrails that would allow more. */
  get(wanted: readonly JsonObject[]): Promise<Agent> {
    const guardrails = tightenGuardrails(this.#loaded.config.guardrails, wanted);
    const key = JSON.stringify(guardrails);
    let agent = this.#agents.get(key);
    if (agent === undefined) {
      const config: Config = { ...this.#loaded.config, guardrails };
      const loaded: Project = { ...this.#loaded, config };
      // All steps of a run meet the same state of a server. Which changed tools are held back is a matter of the connections.
      const isConnected = guardrails.changedTools === this.#loaded.config.guardrails.changedTools;
      const host = lazyHost(loaded, this.#options, isConnected ? this.#host : undefined);
      agent = new Lazy(async () => this.#openAgent(loaded, this.#options, host));
      this.#agents.set(key, agent);
    }
    return agent.get();
  }

  async dispose(): Promise<void> {
    await Promise.all([...this.#agents.values()].map(async (agent) => (await agent.settled())?.dispose()));
  }
}

function toolNamesOf({ toolMappings }: Config): ToolNames {
  return new Map(
    toolMappings.map(({ serverName, toolName, functionName, pythonFunctionName }) => [
      functionName ?? pythonFunctionName ?? toolName,
      { server: serverName, tool: toolName },
    ]),
  );
}
