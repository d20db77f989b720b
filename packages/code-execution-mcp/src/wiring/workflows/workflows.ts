import type { Config } from "@cem/config";
import { CemError, Lazy } from "@cem/core";
import type { Agent, JsonObject, JsonValue, WorkflowStepKind } from "@cem/core";
import type { FindWorkflow, ToolNames, Workflows } from "@cem/workflows";
import type { AgentOptions } from "../../options.ts";
import { lazyHost } from "../calls/tool-host.ts";
import type { Host } from "../calls/tool-host.ts";
import { assertOutOfReach } from "../places.ts";
import { redactorOf } from "../privacy/redaction.ts";
import type { Project } from "../project.ts";
import { workflowFinder } from "./workflow-tools.ts";

type Guardrails = Config["guardrails"];

/** Takes the value of a workflow where it allows no more than the present one; `undefined` where it would allow more. */
type Tighten = (present: unknown, wanted: JsonValue) => unknown;

const flag: Tighten = (present, wanted) =>
  typeof wanted === "boolean" && (wanted || present === false) ? wanted : undefined;
const atMost: Tighten = (present, wanted) =>
  typeof wanted === "number" && wanted <= Number(present) ? wanted : undefined;
const more: Tighten = (present, wanted) =>
  Array.isArray(wanted) && Array.isArray(present) && !wanted.some(isExemption)
    ? [...present, ...wanted]
    : undefined;

/** How each guardrail can be tightened. Others can't be set for a workflow. */
const TIGHTEN: Partial<Record<keyof Guardrails, Tighten>> = {
  enabled: flag,
  strictMode: flag,
  contentFiltering: flag,
  securityChecks: flag,
  privacyProtection: flag,
  piiDetection: flag,
  tokenization: flag,
  rateLimiting: flag,
  maxExecutionTime: atMost,
  maxMemoryMb: atMost,
  blockedTools: more,
  blockedPatterns: more,
  approvals: more,
  allowedTools: (present, wanted) =>
    Array.isArray(present) && Array.isArray(wanted)
      ? inBoth(present.map(String), wanted.map(String))
      : undefined,
  changedTools: (present, wanted) => (wanted === "hold" || wanted === present ? wanted : undefined),
};

/**
 * The guardrails of a configuration, tightened as a workflow and its steps want it.
 *
 * @throws CemError `WORKFLOW_INVALID` for one that would allow more, or that can't be set for a workflow.
 */
export function tightenGuardrails(present: Guardrails, wanted: readonly JsonObject[]): Guardrails {
  const tightened: Record<string, unknown> = { ...present };
  for (const [written, value] of wanted.flatMap((overrides) => Object.entries(overrides))) {
    const key = toCamelCase(written);
    const tighten = Object.hasOwn(TIGHTEN, key) ? TIGHTEN[key as keyof Guardrails] : undefined;
    const result = tighten?.(tightened[key], value);
    if (result !== undefined) {
      tightened[key] = result;
      continue;
    }
    const why =
      tighten === undefined
        ? `can't be set for a workflow. These can: ${Object.keys(TIGHTEN).map(toSnakeCase).join(", ")}.`
        : "would allow more than the configuration. Guardrails of workflows only tighten.";
    throw new CemError("WORKFLOW_INVALID", `guardrails.${toSnakeCase(key)} of a workflow ${why}`, {
      details: { guardrail: toSnakeCase(key) },
    });
  }
  return tightened as Guardrails;
}

/** `!tool` among approvals lets a tool through. */
function isExemption(entry: JsonValue): boolean {
  return typeof entry === "string" && entry.startsWith("!");
}

/** Patterns of the tools that both lists allow: those that one list has and the other covers. */
function inBoth(one: readonly string[], other: readonly string[]): string[] {
  const coveredBy = (patterns: readonly string[], pattern: string): boolean =>
    patterns.some((wider) => covers(wider, pattern));
  const kept = [
    ...other.filter((pattern) => coveredBy(one, pattern)),
    ...one.filter((pattern) => coveredBy(other, pattern)),
  ];
  return [...new Set(kept)];
}

/** Whether a pattern with `*` matches all that another one does. */
function covers(wider: string, pattern: string): boolean {
  const parts = wider.split("*");
  let rest = pattern;
  for (const [index, part] of parts.entries()) {
    const isLast = index === parts.length - 1;
    if (index === 0) {
      if (!rest.startsWith(part)) return false;
      if (isLast) return rest === part;
      rest = rest.slice(part.length);
    } else if (isLast) return rest.endsWith(part);
    else {
      const at = rest.indexOf(part);
      if (at === -1) return false;
      rest = rest.slice(at + part.length);
    }
  }
  return true;
}

function toCamelCase(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());
}

function toSnakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** What carries out workflows, with what it needs of a configuration. */
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

/** Sets up what carries out workflows. Agents with guardrails of their own are opened when a step wants one. */
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
