import { Lazy } from "@cem/core";
import type { Agent, Redactor, ResultStore, SkillStore, StateStore } from "@cem/core";
import { observeOwners } from "@cem/core/telemetry";
import type { RunWorkflowTool } from "@cem/mcp-server";
import type { RunQueue } from "@cem/queue";
import type { OpenCustomer, OpenCustomers } from "@cem/workspace";
import type { AgentOptions } from "../../options.ts";
import { lazyHost } from "../calls/tool-host.ts";
import type { Host } from "../calls/tool-host.ts";
import { scopeRedactor } from "../privacy/scoped-redactor.ts";
import type { ScopedRedactor } from "../privacy/scoped-redactor.ts";
import { refreshSkills } from "../project.ts";
import type { Project } from "../project.ts";
import { createConfiguredState, createServedResults } from "../records/workspace.ts";
import { shareSkills } from "../shared/files.ts";
import { createConfiguredSkills } from "../skills.ts";
import { createConfiguredTypeChecker, ownedTypeChecker } from "../stages/stages.ts";
import { createWorkflowTools } from "../workflows/workflow-tools.ts";
import type { WorkflowTools } from "../workflows/workflow-tools.ts";
import { countRequests } from "./counted-agent.ts";

const MS_PER_SECOND = 1_000;

/** The agent of one customer, and what a server needs beside it. */
export interface CustomerHost {
  agent: Agent;
  results: ResultStore;
  state: StateStore | undefined;
  skills: SkillStore;
  redactor: Redactor | undefined;
  /** Quota key: runs of one key share a quota. */
  payer: string;
  runWorkflow: RunWorkflowTool;
  /** The project with the customer's folders. */
  project: Project;
  workflows: WorkflowTools;
}

/** Opens an agent of a project. */
type OpenAgent = (project: Project, options: AgentOptions, host: Lazy<Host>) => Agent;

/** Where customers' runs are executed. */
export interface CustomerRuns {
  openAgent: OpenAgent;
  /** The queue that their runs wait in. Absent where they are executed here. */
  queue?: RunQueue | undefined;
  /** Called with the quota key of a customer who was deleted. */
  onGone?: ((payer: string) => void) | undefined;
}

/** The customers that a server has at work. */
export interface CustomerHosts extends Pick<OpenCustomers<CustomerHost>, "get" | "getSame" | "dispose"> {
  /** Shows the customers at work the changes among the skills that all share. */
  refreshSkills(): Promise<void>;
}

/** Opens hosts for customers, each with an agent of its own. */
export async function openCustomerHosts(
  project: Project,
  options: AgentOptions,
  runs: CustomerRuns,
): Promise<CustomerHosts> {
  const workspace = await import("@cem/workspace");
  const { dir, maxOpen, idle } = project.config.customers;
  const memories = new CustomerMemories(options.redactor, (id) => runs.onGone?.(quotaKeyOf(id)));
  /** For customers without skills of their own, whose types are the same. */
  const sharedChecker = new Lazy(() => createConfiguredTypeChecker(project.config));

  async function open(id: string): Promise<OpenCustomer<CustomerHost>> {
    const own = withoutPool(await project.forOwner(id));
    const { home = "", skillsDir = "" } = own.owner ?? {};
    const checker = new Lazy(() => createConfiguredTypeChecker(own.config));
    const typeChecker = ownedTypeChecker(skillsDir, { shared: sharedChecker, own: checker });
    const store = await own.store?.get();
    const isThere = workspace.followOwner(home, store);
    await isThere();
    const incarnation = store && (await workspace.incarnationOf(home));
    const memory = await memories.open(id, isThere);
    const { redactor } = memory;
    const ownOptions = { ...options, redactor, typeChecker };
    const connected = lazyHost(own, ownOptions);
    const local = runs.openAgent(own, ownOptions, connected);
    const payer = quotaKeyOf(id);
    const counted = countRequests(runs.queue?.agent(local, { id, incarnation }) ?? local, payer);
    const { agent } = counted;
    const [results, state, skills] = await Promise.all([
      createServedResults(own),
      createConfiguredState(own),
      createConfiguredSkills(own).then((one) => shareSkills(one, own.sync)),
    ]);
    const { openAgent } = runs;
    const workflows = createWorkflowTools(own, options, { agent, openAgent, host: connected });
    const runWorkflow = workflows.run;
    return {
      host: { agent, results, state, skills, redactor, payer, runWorkflow, project: own, workflows },
      incarnation,
      get busy() {
        return counted.busy;
      },
      get used() {
        return counted.used;
      },
      isThere,
      async dispose() {
        await workflows.dispose();
        await agent.dispose();
        await typeChecker.dispose();
        await own.dispose();
      },
      forget: () => memories.forget(memory),
    };
  }

  const customers = new workspace.OpenCustomers<CustomerHost>({
    dir,
    store: project.store,
    maxOpen,
    idleMs: idle * MS_PER_SECOND,
    open,
    forget: (id) => memories.forget(memories.of(id)),
  });
  const stopObserving = observeOwners(() => customers.size);
  return {
    get: (id) => customers.get(id),
    getSame: (id, incarnation) => customers.getSame(id, incarnation),
    async refreshSkills() {
      for (const { project: own } of await customers.hosts())
        if (own.owner !== undefined) await refreshSkills(own.owner);
    },
    async dispose() {
      stopObserving();
      await customers.dispose();
      await (await sharedChecker.settled())?.dispose();
    },
  };
}

/** A guest that waits for a customer's first run is worth less than what it takes while many are idle. */
function withoutPool(project: Project): Project {
  const { config } = project;
  const optimizations = { ...config.optimizations, sandboxPooling: false };
  return { ...project, config: { ...config, optimizations } };
}

function quotaKeyOf(id: string): string {
  return `customer ${id}`;
}

/** As many as a redactor keeps sessions. */
const MAX_CUSTOMERS = 10_000;

/** The values behind the tokens of one customer, which outlive its agent. */
export interface CustomerMemory {
  id: string;
  /** With the values behind the customer's tokens. */
  redactor: ScopedRedactor | undefined;
  isThere: () => Promise<boolean>;
}

/**
 * Memory of customers that outlives their agents within a process: the values behind their tokens. A new customer with
 * the id of a deleted one gets none of it.
 */
export class CustomerMemories {
  readonly #redactor: Redactor | undefined;
  readonly #onGone: (id: string) => void;
  readonly #memories = new Map<string, CustomerMemory>();

  /**
   * @param redactor - That of all customers.
   * @param onGone - Called with the id of a deleted customer.
   */
  constructor(redactor: Redactor | undefined, onGone: (id: string) => void) {
    this.#redactor = redactor;
    this.#onGone = onGone;
  }

  /**
   * Returns the memory of a customer; creates it where there is none.
   *
   * @param isThere - Whether the customer was not deleted from now on.
   */
  async open(id: string, isThere: () => Promise<boolean>): Promise<CustomerMemory> {
    const known = this.#memories.get(id);
    if (known !== undefined && (await known.isThere())) return known;
    await this.forget(known);
    const [oldest] = this.#memories.keys();
    if (this.#memories.size >= MAX_CUSTOMERS && oldest !== undefined) this.#memories.delete(oldest);
    const redactor = this.#redactor && scopeRedactor(this.#redactor, id);
    const memory = { id, redactor, isThere };
    this.#memories.set(id, memory);
    return memory;
  }

  /** Memory of a customer. `undefined` where there is none. */
  of(id: string): CustomerMemory | undefined {
    return this.#memories.get(id);
  }

  /** Forgets a customer who was deleted, and nothing of one who came with the same id since. */
  async forget(memory: CustomerMemory | undefined): Promise<void> {
    if (memory === undefined) return;
    const { id, redactor } = memory;
    if (this.#memories.get(id) === memory) {
      this.#memories.delete(id);
      this.#onGone(id);
    }
    await redactor?.forget();
  }
}
