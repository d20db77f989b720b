import { isObject, Lazy, MS_PER_SECOND, toErrorInfo, type Agent } from "@cem/core";
import { observeOwners } from "@cem/core/telemetry";
import type { OwnerParts } from "@cem/mcp-server";
import type { RunQueue } from "@cem/queue";
import type { OpenCustomer, OpenCustomers } from "@cem/workspace";
import type { AgentOptions } from "../../options.ts";
import { asOwner } from "../../work-threads/work-threads.ts";
import { lazyHost, type OpenAgent } from "../calls/tool-host.ts";
import { openCustomerFolders } from "../http/clients.ts";
import { quotaKeyOf, refreshSkills, withoutPool, type Project } from "../project.ts";
import { tidyRecords } from "../records/run-records.ts";
import { createConfiguredState, createServedResults } from "../records/workspace.ts";
import { shareSkills } from "../shared/files.ts";
import { createConfiguredSkills } from "../skills.ts";
import { createConfiguredTypeChecker, ownedTypeChecker } from "../stages/stages.ts";
import { createWorkflowTools, type WorkflowTools } from "../workflows/workflow-tools.ts";
import { createCustomerMemories } from "./customer-memories.ts";

/** The agent of one customer, and the other per-customer parts of a server. */
export interface CustomerHost extends OwnerParts {
  quotaOwner: string;
  /** The project with the customer's folders. */
  project: Project;
  workflows: WorkflowTools;
}

/** Where customers' runs are executed. */
export interface CustomerRuns {
  openAgent: OpenAgent;
  /** The queue of their runs. Absent if they are executed here. */
  queue?: RunQueue | undefined;
  /** Called with the quota key of a deleted customer. */
  onGone?: ((quotaOwner: string) => void) | undefined;
}

/** The active customers of a server. */
export type CustomerHosts = Pick<OpenCustomers<CustomerHost>, "get" | "getSame" | "dispose">;

export async function openCustomerHosts(
  project: Project,
  options: AgentOptions,
  runs: CustomerRuns,
): Promise<CustomerHosts> {
  const workspace = await import("@cem/workspace");
  const { dir, maxOpen, idle } = project.config.customers;
  const memories = createCustomerMemories(options.redactor, (id) => runs.onGone?.(quotaKeyOf(id)));
  /** Shared by customers without skills of their own, which have the same types. */
  const sharedChecker = new Lazy(() => createConfiguredTypeChecker(project.config));

  async function open(id: string): Promise<OpenCustomer<CustomerHost>> {
    // With many idle customers, keeping a guest ready for each costs more than it saves.
    const own = withoutPool(await project.forOwner(id));
    const { home = "", skillsDir = "" } = own.owner ?? {};
    const checker = new Lazy(() => createConfiguredTypeChecker(own.config));
    const typeChecker = ownedTypeChecker(skillsDir, { shared: sharedChecker, own: checker });
    const store = await own.store?.get();
    const isThere = workspace.followCustomer(home, store);
    await isThere();
    const incarnation = store && (await workspace.incarnationOf(home));
    const memory = await memories.open(id, isThere);
    const { redactor } = memory;
    const ownOptions = { ...options, redactor, typeChecker };
    const connected = lazyHost(own, ownOptions);
    const local = runs.openAgent(own, ownOptions, connected);
    const quotaOwner = quotaKeyOf(id);
    /** Requests that meet the disposed agent of a deleted customer fail with that reason. */
    const explained = async <T>(work: () => Promise<T>): Promise<T> => {
      const isGone = async (error: unknown): Promise<boolean> =>
        isObject(error) && error["code"] === "AGENT_DISPOSED" && !(await isThere());
      try {
        const result = await asOwner(quotaOwner, work);
        if (!isObject(result) || !(await isGone(result["error"]))) return result;
        return { ...result, error: toErrorInfo(workspace.customerGone(id, "The run was stopped.")) };
      } catch (error) {
        throw (await isGone(error)) ? workspace.customerGone(id) : error;
      }
    };
    const inner = runs.queue?.agent(local, { id, incarnation }) ?? local;
    const { agent, activity } = countRequests(inner, explained);
    const [results, state, skills] = await Promise.all([
      createServedResults(own),
      createConfiguredState(own),
      createConfiguredSkills(own).then((one) => shareSkills(one, own.sync)),
    ]);
    const { openAgent } = runs;
    const workflows = createWorkflowTools(own, options, { agent, openAgent, host: connected });
    const runWorkflow = workflows.run;
    return {
      host: { agent, results, state, skills, redactor, quotaOwner, runWorkflow, project: own, workflows },
      incarnation,
      activity,
      isThere,
      async dispose() {
        await workflows.dispose();
        await agent.dispose();
        await typeChecker.dispose();
        await own[Symbol.asyncDispose]();
      },
      forget: () => memories.forget(memory),
    };
  }

  const customers = workspace.createOpenCustomers<CustomerHost>({
    dir,
    store: project.store,
    maxOpen,
    idleMs: idle * MS_PER_SECOND,
    open,
    async tidy() {
      const folders = await openCustomerFolders(project);
      for (const id of await folders.removeDeleted()) await memories.forget(memories.of(id));
      await tidyRecords(project.config);
    },
  });
  const stopObserving = observeOwners(() => customers.size);
  return {
    get: async (id) => withSharedSkills(await customers.get(id)),
    getSame: async (id, incarnation) => withSharedSkills(await customers.getSame(id, incarnation)),
    async dispose() {
      stopObserving();
      await customers.dispose();
      await (await sharedChecker.settled())?.dispose();
    },
  };
}

/** When the skills of an active customer were last compared with the shared ones. */
const refreshed = new WeakMap<CustomerHost, number>();

/** A customer's host, whose view of the shared skills is at most a second old. */
async function withSharedSkills(host: CustomerHost): Promise<CustomerHost> {
  const now = performance.now();
  if (host.project.owner === undefined || now - (refreshed.get(host) ?? 0) < MS_PER_SECOND) return host;
  refreshed.set(host, now);
  await refreshSkills(host.project.owner);
  return host;
}

/** An agent that counts its requests, so that an idle one can be distinguished from a busy one. */
function countRequests(inner: Agent, run: <T>(work: () => Promise<T>) => Promise<T>) {
  const activity = { busy: 0, used: performance.now() };
  const counted = async <T>(work: () => Promise<T>): Promise<T> => {
    activity.busy += 1;
    activity.used = performance.now();
    try {
      return await run(work);
    } finally {
      activity.busy -= 1;
      activity.used = performance.now();
    }
  };
  const agent: Agent = {
    specificationVersion: "v1",
    executeTask: (task, options) => counted(() => inner.executeTask(task, options)),
    executeCode: (code, options) => counted(() => inner.executeCode(code, options)),
    ...(inner.rejoinRun && {
      rejoinRun: (key, options) => counted(async () => inner.rejoinRun?.(key, options)),
    }),
    discoverTools: (options) => counted(() => inner.discoverTools(options)),
    searchTools: (query, options) => counted(() => inner.searchTools(query, options)),
    saveSkill: (draft, options) => counted(() => inner.saveSkill(draft, options)),
    checkpoint: (options) => counted(() => inner.checkpoint(options)),
    warm: (options) => counted(() => inner.warm(options)),
    openResults: async () => inner.openResults?.(),
    sandboxStats: () => inner.sandboxStats?.(),
    dispose: () => inner.dispose(),
  };
  return { agent, activity };
}
