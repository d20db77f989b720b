import { CemError, forClients } from "@cem/core";
import type { ConsoleParts } from "@cem/mcp-server/console";
import type { QueueLoad, RunQueue } from "@cem/queue";
import type { CemServer } from "../../options.ts";
import type { Project } from "../project.ts";
import { logDirOf } from "../records/workspace.ts";
import { configuredSource, summarizeWorkflows } from "../workflows/workflow-settings.ts";
import type { WorkflowTools } from "../workflows/workflow-tools.ts";
import { openCustomerFolders } from "./clients.ts";

export type Identity = Parameters<CemServer["openClient"]>[0];

const MAX_LISTED_SESSIONS = 200;
const MAX_LISTED_CUSTOMERS = 500;
/** The parts that a client may see in the console: those of its customer, or of a project without customers. */
export async function consolePartsOf({
  project,
  workflows,
  identity,
  queue,
}: {
  project: Project;
  workflows: WorkflowTools;
  identity: Identity;
  queue: ConsoleParts["queue"];
}): Promise<ConsoleParts> {
  const { config, owner, records } = project;
  const guestMemoryMb = config.guardrails.maxMemoryMb;
  // Clients of an issuer that share one workspace see only what they started themselves.
  if (owner === undefined && config.server.authIssuer !== undefined) {
    const { ownerDigest } = await import("@cem/workspace");
    return { records, owner: ownerDigest(identity?.clientId ?? ""), guestMemoryMb };
  }
  return {
    records,
    guestMemoryMb,
    sessions: sessionsOf(project),
    workflows: workflowsOf(project, workflows),
    customers: customersOf(project),
    // With several customers, the queue is hidden: it contains runs of all of them.
    queue: owner === undefined ? queue : undefined,
  };
}

function sessionsOf(project: Project): ConsoleParts["sessions"] {
  const folder = logDirOf(project);
  return {
    async list() {
      const { listSessions } = await import("@cem/workspace");
      const sessions = await listSessions(folder, { max: MAX_LISTED_SESSIONS });
      return sessions.map(
        ({ session_id: id, started_at: startedAt, ended_at: endedAt, tasks, lastTask }) => ({
          id,
          startedAt,
          endedAt,
          tasks,
          lastTask,
        }),
      );
    },
    async read(id) {
      const { readSession, recapSession } = await import("@cem/workspace");
      const session = await readSession(folder, id);
      return { session, recap: recapSession(session) };
    },
  };
}

function workflowsOf({ config }: Project, tools: WorkflowTools): ConsoleParts["workflows"] {
  return {
    list: async () => summarizeWorkflows(config),
    async draw(name) {
      // By name only: a path could read other files of the host.
      const workflow = config.workflows.find((one) => one.name === name);
      if (workflow === undefined)
        throw new CemError("WORKFLOW_NOT_FOUND", "No workflow of this name is configured.", {
          details: { workflow: name },
        });
      const { drawWorkflow } = await import("@cem/workflows");
      const { workflow: checked } = await (await tools.open()).workflows.load(configuredSource(workflow));
      return drawWorkflow(checked);
    },
    runs: async () => (await tools.open()).workflows.list(),
    async run(id) {
      const { definition: _, ...run } = await (await tools.open()).workflows.show(id);
      const steps = run.steps.map(({ step, status, attempts, error }) => ({
        step,
        status,
        attempts,
        error: error && forClients(error).message,
      }));
      return { ...run, steps };
    },
  };
}

function customersOf(project: Project): ConsoleParts["customers"] {
  const { owner } = project;
  return {
    isOwn: owner !== undefined,
    async list() {
      const folders = await openCustomerFolders(project);
      const ids = owner === undefined ? await folders.list() : [owner.id];
      const usages = await Promise.all(ids.slice(0, MAX_LISTED_CUSTOMERS).map((id) => folders.usage(id)));
      return usages.map((usage) => ({ ...usage, quotas: usage.quotas ?? [] }));
    },
    remove: async (id) => (await openCustomerFolders(project)).remove(id),
  };
}

const MINUTE_MS = 60_000;
const SHOWN_MINUTES = 60;

/** Records the queue's load each minute and keeps the last hour. */
export function recordQueue(queue: RunQueue) {
  const loads = new Map<number, QueueLoad>();
  const measure = async (): Promise<QueueLoad> => {
    const load = await queue.load();
    const now = minuteOf(Date.now());
    loads.set(now, load);
    loads.delete(now - SHOWN_MINUTES);
    return load;
  };
  // While the queue is unreachable, its minutes stay empty.
  const measureSoon = (): void => void measure().catch(() => {});
  const timer = setInterval(measureSoon, MINUTE_MS).unref();
  measureSoon();
  const read: NonNullable<ConsoleParts["queue"]>["read"] = async () => {
    const [{ dead: error, ...now }, dead] = await Promise.all([measure(), queue.dead()]);
    const runs = dead.map(({ owner, at, ...run }) => ({ ...run, customer: owner, at: at.toISOString() }));
    const latest = minuteOf(Date.now());
    const minutes = Array.from({ length: SHOWN_MINUTES }, (_, index) => {
      const minute = latest - SHOWN_MINUTES + 1 + index;
      const load = loads.get(minute);
      return {
        at: new Date(minute * MINUTE_MS).toISOString(),
        workers: load?.workers,
        oldestWaitMs: load?.oldestWaitMs,
        ended: load?.endedPerMinute,
        error: dead.filter(({ at }) => minuteOf(at.getTime()) === minute).length,
      };
    });
    return { now: { ...now, error }, minutes, runs };
  };
  return { read, stop: () => clearInterval(timer) };
}

function minuteOf(ms: number): number {
  return Math.floor(ms / MINUTE_MS);
}
