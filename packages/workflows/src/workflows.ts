import { rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { isDeepStrictEqual } from "node:util";
import { CemError, restoreTokens, type JsonObject, type Redactor, type WorkflowStepKind } from "@cem/core";
import { FileLock, PRIVATE_FILE } from "@cem/core/files";
import { checkCalls } from "./definition/check-workflow.ts";
import { loadWorkflow, type FindWorkflow, type LoadedWorkflow } from "./definition/load-workflow.ts";
import { isBuiltIn } from "./definition/parse-workflow.ts";
import { variablesOf } from "./definition/value-schema.ts";
import type { WorkflowStep } from "./definition/workflow.ts";
import { createCleanUp } from "./runs/clean-up.ts";
import { readOutcomes, type WorkflowResult } from "./runs/outcomes.ts";
import { createRunId, createRunFolders, runLockOf, takeRun } from "./runs/run-folder.ts";
import type { RunFolder, RunRecord } from "./runs/run-folder.ts";
import { describeRun, endRun, summarizeDamaged, summarizeRun, type RunSummary } from "./runs/run-summary.ts";
import { tokenizeFor, type RunParts } from "./steps/execution.ts";
import { CANCEL_FILE, runWorkflow, type RunRequest } from "./workflow-run.ts";
import type { ResumeOptions, Workflows, WorkflowsSettings } from "./workflows-port.ts";

const MAX_LISTED = 200;

/**
 * Creates an executor of workflows that uses an agent.
 *
 * @throws CemError `OPTION_INVALID` for two types of steps with the same name.
 */
export function createWorkflows(settings: WorkflowsSettings): Workflows {
  const { agent, agentWith, redactor, runsDir, ownerDir, assertAllowed, allow, keep } = settings;
  const { stepKinds = [], toolNames = new Map(), find = noWorkflows } = settings;
  const folders = createRunFolders(runsDir, ownerDir);
  const cleanUp = keep && createCleanUp(folders, keep);
  const kinds = kindsOf(stepKinds);
  const agentFor: RunParts["agentFor"] = async (guardrails) => {
    if (guardrails.length === 0) return agent;
    if (agentWith !== undefined) return agentWith(guardrails);
    throw new CemError("OPTION_INVALID", "This agent can't have other guardrails for a workflow or a step.");
  };
  const load: Workflows["load"] = (source) => loadWorkflow(source, kinds, find);

  const execute = async (request: RunRequest): Promise<WorkflowResult> => {
    const { place, record, isResumed, loaded } = request;
    const lock = await takeRun(place);
    try {
      await redactor?.restore?.(record.session);
      if (isResumed) {
        // Withdraws a cancellation request, and records variables that were given again.
        await rm(path.join(place.folder, CANCEL_FILE), { force: true });
        await folders.write(place, record);
      }
      if (reachesOut(loaded)) await allow?.(place.file, record.workflow);
      return await runWorkflow({ agentFor, redactor, kinds, toolNames }, request);
    } finally {
      await redactor?.persist?.(record.session);
      lock.release();
    }
  };

  return {
    load,
    async validate(source, { signal } = {}) {
      const catalog = await agent.discoverTools({ signal });
      return loadWorkflow(source, kinds, find, (workflow, problems) =>
        checkCalls(workflow, problems, { catalog, toolNames }),
      );
    },
    async run(source, options = {}) {
      const loaded = await load(source);
      const { workflow, parts } = loaded;
      for (const [origin, { steps }] of [[source.origin, workflow] as const, ...parts])
        if (steps.some(isOfOtherKind)) await assertAllowed?.(origin);
      const given = await variablesOf(workflow, options.variables ?? {});
      const id = createRunId(workflow.name);
      const session = options.session ?? `workflow:${id}`;
      const record: RunRecord = {
        id,
        workflow: workflow.name,
        version: workflow.version,
        session,
        startedAt: new Date().toISOString(),
        definition: workflow.source,
        parts: Object.fromEntries([...parts].map(([name, part]) => [name, part.source])),
        variables: await tokenizeFor(redactor, given, session),
      };
      const place = await folders.create(record);
      cleanUp?.();
      return execute({ loaded, place, record, isResumed: false, decisions: decisionsOf({}), ...options });
    },
    async resume(run, { variables, ...options } = {}) {
      const place = await folders.find(run);
      const began = await folders.read(place);
      const findPart: FindWorkflow = async (name) => {
        const value = Object.hasOwn(began.parts, name) ? began.parts[name] : undefined;
        return value === undefined ? noWorkflows(name) : { value, origin: name };
      };
      const loaded = await loadWorkflow({ value: began.definition, origin: run }, kinds, findPart);
      // The creator of the file chose the steps and their values.
      if (reachesOut(loaded)) await assertAllowed?.(place.file, began.workflow);
      let record = began;
      if (variables !== undefined) {
        const given = await variablesOf(loaded.workflow, { ...began.variables, ...variables });
        await redactor?.restore?.(began.session);
        await assertSameVariables(began, given, redactor, place);
        record = { ...began, variables: await tokenizeFor(redactor, given, began.session) };
      }
      return execute({ loaded, place, record, isResumed: true, decisions: decisionsOf(options), ...options });
    },
    async cancel(run) {
      const place = await folders.find(run);
      const { status } = await summarizeRun(folders, place);
      if (status !== "running" && status !== "interrupted") return status;
      if (FileLock.isHeld(runLockOf(place))) {
        await writeFile(path.join(place.folder, CANCEL_FILE), "", { mode: PRIVATE_FILE });
        return "running";
      }
      await endRun(place);
      return "cancelled";
    },
    async list() {
      cleanUp?.();
      const found: RunSummary[] = [];
      for (const place of await folders.latest()) {
        if (found.length === MAX_LISTED) break;
        // A run that has not begun or is being removed has no summary.
        const summary = await summarizeRun(folders, place)
          .catch(() => summarizeDamaged(place))
          .catch(() => undefined);
        if (summary !== undefined) found.push(summary);
      }
      return found.toSorted((one, other) => other.startedAt.localeCompare(one.startedAt));
    },
    show: async (run) => describeRun(folders, await folders.find(run)),
  };
}

/** Refuses values that differ from the initial ones if steps have results based on those. @throws CemError `OPTION_INVALID` */
async function assertSameVariables(
  { session, variables }: RunRecord,
  given: JsonObject,
  redactor: Redactor | undefined,
  { id, journal }: RunFolder,
): Promise<void> {
  const other: string[] = [];
  for (const [name, value] of Object.entries(given)) {
    const began = variables[name];
    if (began === undefined || isDeepStrictEqual(value, began)) continue;
    const opened = await restoreTokens(began, { redactor, session, current: async () => value }).catch(
      // The initial values were lost with their vault, which is why the value is given again.
      (error: unknown) => (CemError.isInstance(error) && error.code === "TOKEN_UNKNOWN" ? value : began),
    );
    if (!isDeepStrictEqual(value, opened)) other.push(name);
  }
  if (other.length === 0) return;
  const { outcomes } = await readOutcomes(journal);
  const kept = [...outcomes.steps].find(([, { status, isUncertain }]) => status !== "error" || isUncertain);
  if (kept === undefined) return;
  const [step] = kept;
  throw new CemError(
    "OPTION_INVALID",
    `Run ${id} began with another value of ${other.join(", ")}, with which step ${step} was done or may have been. Resume it without, or begin a new run.`,
    { details: { option: "variables", run: id, variables: other, step } },
  );
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
    if (kinds.has(kind.name) || isBuiltIn(kind.name))
      throw new CemError("OPTION_INVALID", `There is a type of steps ${JSON.stringify(kind.name)} already.`, {
        details: { option: "stepKinds", kind: kind.name },
      });
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
