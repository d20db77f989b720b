import { rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { CemError } from "@cem/core";
import type { WorkflowStepKind } from "@cem/core";
import { FileLock, PRIVATE_FILE } from "@cem/core/files";
import { checkCalls } from "./definition/check-workflow.ts";
import { loadWorkflow, sourcesOf } from "./definition/load-workflow.ts";
import type { FindWorkflow, LoadedWorkflow, WorkflowSource } from "./definition/load-workflow.ts";
import { isBuiltIn } from "./definition/parse-workflow.ts";
import { variablesOf } from "./definition/value-schema.ts";
import type { WorkflowStep } from "./definition/workflow.ts";
import type { RunStatus, WorkflowResult } from "./runs/outcomes.ts";
import { createRunId, RunFolders, runLockOf, takeRun } from "./runs/run-folder.ts";
import type { RunFolder, RunRecord } from "./runs/run-folder.ts";
import { describeRun, endRun, summarizeDamaged, summarizeRun } from "./runs/run-summary.ts";
import type { RunDetails, RunSummary } from "./runs/run-summary.ts";
import { tokenizeFor } from "./steps/execution.ts";
import { CANCEL_FILE, WorkflowRun } from "./workflow-run.ts";
import type { RunParts, RunRequest } from "./workflow-run.ts";
import type { ResumeOptions, RunWorkflowOptions, Workflows, WorkflowsSettings } from "./workflows-port.ts";

/**
 * Creates what executes workflows with an agent.
 *
 * @throws CemError `OPTION_INVALID` for a type of steps that has the name of another.
 */
export function createWorkflows(settings: WorkflowsSettings): Workflows {
  return new AgentWorkflows(settings);
}

class AgentWorkflows implements Workflows {
  readonly #parts: RunParts;
  readonly #folders: RunFolders;
  readonly #find: FindWorkflow;
  readonly #assertAllowed: WorkflowsSettings["assertAllowed"];
  readonly #allow: WorkflowsSettings["allow"];

  constructor({ agent, agentWith, redactor, runsDir, ownerDir, ...settings }: WorkflowsSettings) {
    const { stepKinds = [], toolNames = new Map(), find = noWorkflows } = settings;
    this.#folders = new RunFolders(runsDir, ownerDir);
    this.#find = find;
    this.#assertAllowed = settings.assertAllowed;
    this.#allow = settings.allow;
    this.#parts = {
      redactor,
      toolNames,
      kinds: kindsOf(stepKinds),
      async agentFor(guardrails) {
        if (guardrails.length === 0) return agent;
        if (agentWith !== undefined) return agentWith(guardrails);
        throw new CemError(
          "OPTION_INVALID",
          "This agent can't have other guardrails for a workflow or a step.",
        );
      },
    };
  }

  load(source: WorkflowSource): Promise<LoadedWorkflow> {
    return loadWorkflow(source, this.#parts.kinds, this.#find);
  }

  async validate(
    source: WorkflowSource,
    { signal }: Pick<RunWorkflowOptions, "signal"> = {},
  ): Promise<LoadedWorkflow> {
    const { agentFor, kinds, toolNames } = this.#parts;
    const catalog = await (await agentFor([])).discoverTools({ signal });
    return loadWorkflow(source, kinds, this.#find, (workflow, problems) =>
      checkCalls(workflow, problems, { catalog, toolNames }),
    );
  }

  async run(source: WorkflowSource, options: RunWorkflowOptions = {}): Promise<WorkflowResult> {
    const loaded = await this.load(source);
    const { workflow, parts } = loaded;
    for (const [origin, { steps }] of [[source.origin, workflow] as const, ...parts])
      if (steps.some(isOfOtherKind)) await this.#assertAllowed?.(origin);
    const given = variablesOf(workflow, options.variables ?? {});
    const id = createRunId(workflow.name);
    const session = options.session ?? `workflow:${id}`;
    const record: RunRecord = {
      id,
      workflow: workflow.name,
      version: workflow.version,
      session,
      startedAt: new Date().toISOString(),
      definition: workflow.source,
      parts: sourcesOf(parts),
      variables: await tokenizeFor(this.#parts.redactor, given, session),
    };
    const place = await this.#folders.create(record);
    return this.#execute({
      loaded,
      place,
      record,
      isResumed: false,
      decisions: decisionsOf({}),
      ...options,
    });
  }

  async resume(run: string, options: ResumeOptions = {}): Promise<WorkflowResult> {
    const place = await this.#folders.find(run);
    const { variables, ...rest } = options;
    const began = await this.#folders.read(place);
    const { kinds, redactor } = this.#parts;
    const find: FindWorkflow = async (name) => {
      const value = Object.hasOwn(began.parts, name) ? began.parts[name] : undefined;
      return value === undefined ? noWorkflows(name) : { value, origin: name };
    };
    const loaded = await loadWorkflow({ value: began.definition, origin: run }, kinds, find);
    // Whoever put it there chose its steps and their values.
    if (reachesOut(loaded)) await this.#assertAllowed?.(place.file, began.workflow);
    let record = began;
    if (variables !== undefined) {
      const given = variablesOf(loaded.workflow, { ...began.variables, ...variables });
      record = { ...began, variables: await tokenizeFor(redactor, given, began.session) };
    }
    return this.#execute({
      loaded,
      place,
      record,
      isResumed: true,
      decisions: decisionsOf(options),
      ...rest,
    });
  }

  async cancel(run: string): Promise<RunStatus> {
    const place = await this.#folders.find(run);
    const { status } = await summarizeRun(this.#folders, place);
    if (status !== "running" && status !== "interrupted") return status;
    if (FileLock.isHeld(runLockOf(place))) {
      await writeFile(path.join(place.folder, CANCEL_FILE), "", { mode: PRIVATE_FILE });
      return "running";
    }
    await endRun(place);
    return "cancelled";
  }

  async list(): Promise<RunSummary[]> {
    const found: RunSummary[] = [];
    for (const id of await this.#folders.ids()) {
      // A run that has not begun, or is being removed, has no summary.
      const summary = await this.#summaryOf(id).catch(() => undefined);
      if (summary !== undefined) found.push(summary);
    }
    return found.toSorted((one, other) => other.startedAt.localeCompare(one.startedAt));
  }

  async show(run: string): Promise<RunDetails> {
    return describeRun(this.#folders, await this.#folders.find(run));
  }

  async #summaryOf(id: string): Promise<RunSummary> {
    const place = await this.#folders.find(id);
    return summarizeRun(this.#folders, place).catch(() => summarizeDamaged(place));
  }

  async #execute(request: RunRequest): Promise<WorkflowResult> {
    const { place, record, isResumed, loaded } = request;
    const lock = await takeRun(place);
    try {
      await this.#parts.redactor?.restore?.(record.session);
      if (isResumed) await this.#begin(place, record);
      if (reachesOut(loaded)) await this.#allow?.(place.file, record.workflow);
      return await new WorkflowRun(this.#parts, request).run();
    } finally {
      await this.#parts.redactor?.persist?.(record.session);
      lock.release();
    }
  }

  /** Takes back what asked for the end of the run, and writes down variables that were given again. */
  async #begin(place: RunFolder, record: RunRecord): Promise<void> {
    await rm(path.join(place.folder, CANCEL_FILE), { force: true });
    await this.#folders.write(place, record);
  }
}

async function noWorkflows(name: string): Promise<never> {
  throw new CemError("WORKFLOW_NOT_FOUND", `There is no workflow ${JSON.stringify(name)}.`, {
    details: { workflow: name },
  });
}

function decisionsOf({ repeat = [], done = {} }: ResumeOptions): RunRequest["decisions"] {
  return { repeat: new Set(repeat), done: new Map(Object.entries(done)) };
}

function kindsOf(stepKinds: readonly WorkflowStepKind[]): ReadonlyMap<string, WorkflowStepKind> {
  const kinds = new Map<string, WorkflowStepKind>();
  for (const kind of stepKinds) {
    if (kinds.has(kind.name) || isBuiltIn(kind.name)) {
      throw new CemError("OPTION_INVALID", `There is a type of steps ${JSON.stringify(kind.name)} already.`, {
        details: { option: "stepKinds", kind: kind.name },
      });
    }
    kinds.set(kind.name, kind);
  }
  return kinds;
}

/** Whether a workflow, or one that is part of it, has steps of other types than the built-in ones. */
function reachesOut({ workflow, parts }: LoadedWorkflow): boolean {
  return [workflow, ...parts.values()].some(({ steps }) => steps.some(isOfOtherKind));
}

/** Whether a step, or one within it, is of a type that is not built in. */
function isOfOtherKind({ type, bodies }: WorkflowStep): boolean {
  return !isBuiltIn(type) || bodies.some(({ steps }) => steps.some(isOfOtherKind));
}
