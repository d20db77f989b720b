import { CemError, Lazy } from "@cem/core";
import type { Agent } from "@cem/core";
import type { AgentOptions } from "../../options.ts";
import { redactorOf } from "../privacy/redaction.ts";
import type { Project } from "../project.ts";
import { openCustomerHosts } from "./customer-hosts.ts";
import type { CustomerHosts, OpenAgent } from "./customer-hosts.ts";

/** The agents with which a worker executes runs: one for each customer, and one for runs without. */
export class WorkerAgents {
  readonly #loaded: Project;
  readonly #own: Lazy<Agent>;
  readonly #customers: CustomerHosts;
  readonly #dispose: () => Promise<void>;

  /** The agents of customers that are open at once, at most. */
  get maxOpen(): number {
    return this.#loaded.config.customers.maxOpen;
  }

  private constructor(
    loaded: Project,
    own: Lazy<Agent>,
    customers: CustomerHosts,
    dispose: () => Promise<void>,
  ) {
    this.#loaded = loaded;
    this.#own = own;
    this.#customers = customers;
    this.#dispose = dispose;
  }

  static async open(loaded: Project, options: AgentOptions, openAgent: OpenAgent): Promise<WorkerAgents> {
    const redactor = await redactorOf(loaded, options)?.get();
    const allOptions = { ...options, redactor };
    const customers = await openCustomerHosts(loaded, allOptions, { openAgent });
    const own = new Lazy(async () => openAgent(loaded, allOptions));
    return new WorkerAgents(loaded, own, customers, async () => {
      if (options.redactor === undefined) await redactor?.dispose();
    });
  }

  /**
   * @throws CemError `CUSTOMER_NOT_FOUND` for what is no id, `CONFIG_INVALID` where the worker is another customer's,
   *   `OWNER_GONE` where the customer was deleted since.
   */
  async get(owner: string | undefined, incarnation: string | undefined): Promise<Agent> {
    const own = this.#loaded.owner?.id;
    if (owner === undefined || owner === own) return this.#own.get();
    if (own !== undefined) {
      throw new CemError("CONFIG_INVALID", `The worker is for the customer ${own} only (customers.id).`, {
        details: { setting: "customers.id" },
      });
    }
    return (await this.#customers.getSame(owner, incarnation)).agent;
  }

  async dispose(): Promise<void> {
    await this.#customers.dispose();
    await (await this.#own.settled())?.dispose();
    await this.#dispose();
  }
}
