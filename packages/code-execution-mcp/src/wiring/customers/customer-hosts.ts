import { watch } from "node:fs";
import type { FSWatcher } from "node:fs";
import { CemError, Lazy } from "@cem/core";
import type { Agent, Redactor, ResultStore, SkillStore, StateStore, TypeChecker } from "@cem/core";
import { observeCustomers } from "@cem/core/telemetry";
import type { RunWorkflowTool } from "@cem/mcp-server";
import type { RunQueue } from "@cem/queue";
import type { AgentOptions } from "../../options.ts";
import { lazyHost } from "../calls/tool-host.ts";
import type { Host } from "../calls/tool-host.ts";
import { createLog } from "../log.ts";
import { scopeToCustomer } from "../privacy/scoped-redactor.ts";
import type { CustomerRedactor } from "../privacy/scoped-redactor.ts";
import { disposePlugins, forCustomer, refreshSkills } from "../project.ts";
import type { LoadedFor } from "../project.ts";
import { openConfiguredRecords } from "../records/run-records.ts";
import { createConfiguredState, createServedResults } from "../records/workspace.ts";
import { shareSkills } from "../shared/files.ts";
import { createConfiguredSkills } from "../skills.ts";
import { createConfiguredTypeChecker, customerTypeChecker } from "../stages/stages.ts";
import { createWorkflowTools } from "../workflows/workflow-tools.ts";
import type { WorkflowTools } from "../workflows/workflow-tools.ts";
import { countRequests } from "./counted-agent.ts";
import type { CountedAgent } from "./counted-agent.ts";

const MS_PER_SECOND = 1_000;
const SWEEPS_PER_IDLE_TIME = 4;

/** What belongs to one customer of a server. */
export interface CustomerHost {
  agent: Agent;
  results: ResultStore;
  state: StateStore | undefined;
  skills: SkillStore;
  redactor: Redactor | undefined;
  /** Whose share of the runs its runs take. */
  payer: string;
  runWorkflow: RunWorkflowTool;
  /** Which of the customers with the id it is. Absent where machines share no store. */
  incarnation: string | undefined;
  /** The configuration with the customer's folders. */
  loaded: LoadedFor;
  workflows: WorkflowTools;
}

interface OpenCustomer {
  host: CustomerHost;
  memory: CustomerMemory;
  /** Whether the customer was not deleted. */
  isThere: () => Promise<boolean>;
  counted: CountedAgent;
  typeChecker: TypeChecker;
  loaded: LoadedFor;
  workflows: WorkflowTools;
}

/** Opens an agent of a configuration. */
type OpenAgent = (loaded: LoadedFor, options: AgentOptions, host: Lazy<Host>) => Agent;

/** Where customers' runs are carried out. */
export interface CustomerRuns {
  openAgent: OpenAgent;
  /** The queue that their runs wait in. Absent where they are carried out here. */
  queue?: RunQueue | undefined;
  /** Is told of a customer who was deleted, by whose share of the runs its runs were. */
  onGone?: ((payer: string) => void) | undefined;
}

/**
 * The customers that a server has at work, each with an agent of its own: no guest, connection, cache or value is ever
 * another's. The longest idle are let go first.
 */
export class CustomerHosts {
  readonly #loaded: LoadedFor;
  readonly #options: AgentOptions;
  readonly #openAgent: OpenAgent;
  readonly #queue: RunQueue | undefined;
  readonly #memories: CustomerMemories;
  readonly #open = new Map<string, Promise<OpenCustomer>>();
  /** For customers without skills of their own, whose types are the same. */
  readonly #typeChecker: Lazy<TypeChecker>;
  readonly #timer: NodeJS.Timeout;
  readonly #stopObserving = observeCustomers(() => this.size);
  readonly #closing = new Set<Promise<void>>();
  #watcher: FSWatcher | undefined;

  constructor(loaded: LoadedFor, options: AgentOptions, { openAgent, queue, onGone }: CustomerRuns) {
    this.#loaded = loaded;
    this.#options = options;
    this.#openAgent = openAgent;
    this.#queue = queue;
    this.#memories = new CustomerMemories(options.redactor, (id) => onGone?.(payerOf(id)));
    this.#typeChecker = new Lazy(() => createConfiguredTypeChecker(loaded.config));
    const idleMs = loaded.config.customers.idle * MS_PER_SECOND;
    this.#timer = setInterval(() => void this.#sweep(idleMs), idleMs / SWEEPS_PER_IDLE_TIME).unref();
  }

  /** How many customers have an agent. */
  get size(): number {
    return this.#open.size;
  }

  /**
   * What belongs to a customer, opened where it is not.
   *
   * @param id - Checked or derived before.
   * @throws CemError `RATE_LIMITED` where as many customers are at work as may be.
   */
  async get(id: string): Promise<CustomerHost> {
    let opening = this.#open.get(id);
    if (opening !== undefined && !(await this.#isThere(id, opening))) opening = this.#open.get(id);
    if (opening === undefined) {
      await this.#makeRoom();
      opening = this.#open.get(id) ?? this.#openCustomer(id);
      this.#open.set(id, opening);
      opening.catch(() => this.#open.delete(id));
    }
    return (await opening).host;
  }

  /**
   * What belongs to a customer, where they were not deleted since.
   *
   * @param incarnation - Which of the customers with the id. Absent where that is not known.
   * @throws CemError `RATE_LIMITED`, or `CUSTOMER_GONE` where it is another one by now.
   */
  async getSame(id: string, incarnation: string | undefined): Promise<CustomerHost> {
    const host = await this.get(id);
    const store = await this.#loaded.store?.get();
    if (store === undefined || incarnation === undefined || host.incarnation === incarnation) return host;
    const { isIncarnationThere } = await import("@cem/workspace");
    if (await isIncarnationThere(store, id, incarnation)) return host;
    throw new CemError("CUSTOMER_GONE", `The customer ${id} was deleted. Nothing was run.`, {
      details: { customer: id },
    });
  }

  /** Shows the customers at work what changed among the skills that all share. */
  async refreshSkills(): Promise<void> {
    for (const { loaded } of await this.#opened()) {
      const { customer } = loaded;
      if (customer !== undefined) await refreshSkills(customer);
    }
  }

  async dispose(): Promise<void> {
    clearInterval(this.#timer);
    this.#stopObserving();
    this.#watcher?.close();
    const all = [...this.#open.values()];
    this.#open.clear();
    const opened = await Promise.allSettled(all);
    await Promise.allSettled(
      opened.flatMap((one) => (one.status === "fulfilled" ? [disposeOf(one.value)] : [])),
    );
    await Promise.allSettled(this.#closing);
    await (await this.#typeChecker.settled())?.dispose();
  }

  async #openCustomer(id: string): Promise<OpenCustomer> {
    const loaded = await forCustomer(this.#loaded, id);
    this.#watch();
    // A guest that waits for a customer's first run is worth less than what it takes while many are idle.
    const optimizations = { ...loaded.config.optimizations, sandboxPooling: false };
    const own: LoadedFor = { ...loaded, config: { ...loaded.config, optimizations } };
    const { config, customer } = own;
    if (this.#loaded.records !== undefined)
      own.records = openConfiguredRecords(own, this.#options.log ?? createLog(config));
    const typeChecker = customerTypeChecker(customer?.skillsDir ?? "", {
      shared: this.#typeChecker,
      own: new Lazy(() => createConfiguredTypeChecker(config)),
    });
    const { followCustomer, incarnationOf } = await import("@cem/workspace");
    const home = customer?.home ?? "";
    const store = await own.store?.get();
    const isThere = followCustomer(home, store);
    await isThere();
    const incarnation = store && (await incarnationOf(home));
    const memory = await this.#memories.open(id, isThere);
    const { redactor } = memory;
    const options = { ...this.#options, redactor, typeChecker };
    const connected = lazyHost(own, options);
    const local = this.#openAgent(own, options, connected);
    const counted = countRequests(this.#queue?.agent(local, { id, incarnation }) ?? local, payerOf(id));
    const [results, state, skills] = await Promise.all([
      createServedResults(own),
      createConfiguredState(own),
      createConfiguredSkills(own).then((store) => shareSkills(store, own.sync)),
    ]);
    const { agent } = counted;
    const openAgent = this.#openAgent;
    const workflows = createWorkflowTools(own, this.#options, { agent, openAgent, host: connected });
    const host = {
      agent,
      results,
      state,
      skills,
      redactor,
      payer: payerOf(id),
      runWorkflow: workflows.run,
      incarnation,
      loaded: own,
      workflows,
    };
    return {
      host,
      counted,
      typeChecker,
      workflows,
      loaded: own,
      memory,
      isThere,
    };
  }

  /** Ends what is open of a customer who was deleted, by this or another process. */
  async #isThere(id: string, opening: Promise<OpenCustomer>): Promise<boolean> {
    const opened = await opening.catch(() => undefined);
    if (opened === undefined || (await opened.isThere())) return true;
    if (this.#open.get(id) !== opening) return false;
    this.#open.delete(id);
    // Runs end by themselves now, and say why.
    const ended = idleOf(opened.counted, DELETED_GRACE_MS);
    this.#close(ended.then(() => disposeOf(opened)).then(() => this.#memories.forget(opened.memory)));
    return false;
  }

  /** Looks for customers who are deleted while they are at work. */
  #watch(): void {
    if (this.#watcher !== undefined) return;
    this.#watcher = watch(this.#loaded.config.customers.dir, { persistent: false }, (_, name) => {
      const opening = name === null ? undefined : this.#open.get(name);
      if (name !== null && opening !== undefined) void this.#isThere(name, opening);
    });
    // The next request of a customer looks too.
    this.#watcher.on("error", () => this.#watcher?.close());
  }

  /** Lets the longest idle customer go where there is no room for another. */
  async #makeRoom(): Promise<void> {
    const { maxOpen } = this.#loaded.config.customers;
    if (this.#open.size < maxOpen) return;
    const idle = (await this.#opened()).filter(({ counted }) => counted.busy === 0);
    const [longest] = idle.toSorted((one, other) => one.counted.used - other.counted.used);
    if (longest === undefined) {
      const message = `${this.#open.size} customers are at work, the most that are served at once. Try again soon.`;
      throw new CemError("RATE_LIMITED", message, { details: { customers: this.#open.size } });
    }
    this.#leave(longest.id);
  }

  async #sweep(idleMs: number): Promise<void> {
    await this.#removeDeleted().catch(() => {});
    const before = performance.now() - idleMs;
    for (const { id, counted } of await this.#opened()) {
      if (counted.busy === 0 && counted.used < before) this.#leave(id);
    }
  }

  /** Removes what this machine has of customers whom another machine has deleted. */
  async #removeDeleted(): Promise<void> {
    const { config, store } = this.#loaded;
    if (store === undefined) return;
    const { createCustomerFolders } = await import("@cem/workspace");
    const folders = createCustomerFolders(config.customers.dir, { store: await store.get() });
    for (const id of await folders.removeDeleted()) await this.#memories.forget(this.#memories.of(id));
  }

  async #opened(): Promise<(OpenCustomer & { id: string })[]> {
    const all = [...this.#open].map(async ([id, opening]) => ({ id, ...(await opening) }));
    const settled = await Promise.allSettled(all);
    return settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  }

  /** Lets a customer's agent go: the next request opens another. Requests under way are finished first. */
  #leave(id: string): void {
    const opening = this.#open.get(id);
    if (opening === undefined) return;
    this.#open.delete(id);
    this.#close(opening.then((customer) => idleOf(customer.counted).then(() => disposeOf(customer))));
  }

  #close(closing: Promise<void>): void {
    const closed = closing.catch(() => {}).finally(() => this.#closing.delete(closed));
    this.#closing.add(closed);
  }
}

function payerOf(id: string): string {
  return `customer ${id}`;
}

async function disposeOf({ counted, typeChecker, workflows, loaded }: OpenCustomer): Promise<void> {
  await workflows.dispose();
  await counted.agent.dispose();
  await typeChecker.dispose();
  await loaded.records?.close();
  await disposePlugins(loaded);
}

const BUSY_POLL_MS = 100;
/** How long runs of a customer who was deleted have to notice it. */
const DELETED_GRACE_MS = 2_000;

/** Resolves once an agent has nothing under way, or the time is over. */
async function idleOf(counted: CountedAgent, timeoutMs = Infinity): Promise<void> {
  const { setTimeout: delay } = await import("node:timers/promises");
  const until = performance.now() + timeoutMs;
  while (counted.busy > 0 && performance.now() < until) await delay(BUSY_POLL_MS, undefined, { ref: false });
}

/** As many as a redactor keeps sessions. */
const MAX_CUSTOMERS = 10_000;

/** What is remembered of one customer. */
export interface CustomerMemory {
  id: string;
  /** With the values behind the customer's tokens. */
  redactor: CustomerRedactor | undefined;
  isThere: () => Promise<boolean>;
}

/**
 * What a process remembers of customers after their agents were let go: the values behind their tokens. Another customer
 * who comes with the id of one who was deleted meets none of it.
 */
export class CustomerMemories {
  readonly #redactor: Redactor | undefined;
  readonly #onGone: (id: string) => void;
  readonly #memories = new Map<string, CustomerMemory>();

  /**
   * @param redactor - That of all customers.
   * @param onGone - Is told of a customer who was deleted.
   */
  constructor(redactor: Redactor | undefined, onGone: (id: string) => void) {
    this.#redactor = redactor;
    this.#onGone = onGone;
  }

  /**
   * What is remembered of a customer, or the beginning of it.
   *
   * @param isThere - Whether the customer was not deleted from now on.
   */
  async open(id: string, isThere: () => Promise<boolean>): Promise<CustomerMemory> {
    const known = this.#memories.get(id);
    if (known !== undefined && (await known.isThere())) return known;
    await this.forget(known);
    const [oldest] = this.#memories.keys();
    if (this.#memories.size >= MAX_CUSTOMERS && oldest !== undefined) this.#memories.delete(oldest);
    const redactor = this.#redactor && scopeToCustomer(this.#redactor, id);
    const memory = { id, redactor, isThere };
    this.#memories.set(id, memory);
    return memory;
  }

  /** What is remembered of a customer now. */
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
