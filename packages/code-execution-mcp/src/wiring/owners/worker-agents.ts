import { CemError, Lazy } from "@cem/core";
import type { Agent } from "@cem/core";
import type { AgentOptions } from "../../options.ts";
import type { OpenAgent } from "../calls/tool-host.ts";
import { redactorOf } from "../privacy/redaction.ts";
import type { Project } from "../project.ts";
import { openCustomerHosts } from "./customer-hosts.ts";

/** The agents with which a worker executes runs: one for each customer, and one for runs without. */
export interface WorkerAgents {
  /**
   * @throws CemError `CUSTOMER_NOT_FOUND` for what is no id, `CONFIG_INVALID` where the worker is another customer's,
   *   `OWNER_GONE` where the customer was deleted since.
   */
  get(owner: string | undefined, incarnation: string | undefined): Promise<Agent>;
  dispose(): Promise<void>;
}

export async function openWorkerAgents(
  loaded: Project,
  options: AgentOptions,
  openAgent: OpenAgent,
): Promise<WorkerAgents> {
  const redactor = await redactorOf(loaded, options)?.get();
  const allOptions = { ...options, redactor };
  const customers = await openCustomerHosts(loaded, allOptions, { openAgent });
  const own = new Lazy(async () => openAgent(loaded, allOptions));
  return {
    async get(owner, incarnation) {
      const ownId = loaded.owner?.id;
      if (owner === undefined || owner === ownId) return own.get();
      if (ownId !== undefined) {
        throw new CemError("CONFIG_INVALID", `The worker is for the customer ${ownId} only (customers.id).`, {
          details: { setting: "customers.id" },
        });
      }
      return (await customers.getSame(owner, incarnation)).agent;
    },
    async dispose() {
      await customers.dispose();
      await (await own.settled())?.dispose();
      if (options.redactor === undefined) await redactor?.dispose();
    },
  };
}
