import type { Config } from "@cem/config";
import { CemError, Lazy, type Agent } from "@cem/core";
import type { OwnerName } from "@cem/mcp-server";
import type { AgentOptions, CemServer } from "../../options.ts";
import type { OpenAgent } from "../calls/tool-host.ts";
import { redactorOf } from "../privacy/redaction.ts";
import type { Project } from "../project.ts";
import { openCustomerHosts, type CustomerHost, type CustomerRuns } from "./customer-hosts.ts";

/**
 * Opens hosts for a server whose requests have different owners.
 *
 * @param expose - The servers' features that are exposed besides tools.
 * @returns `undefined` if all requests share one workspace.
 * @throws CemError `CONFIG_INVALID` if clients would see data that only one of them may see.
 */
export async function openRequestHosts(
  project: Project,
  options: AgentOptions,
  { expose, ...runs }: CustomerRuns & { expose: readonly string[] | undefined },
) {
  const { config } = project;
  if (!hasCustomers(config)) return undefined;
  assertNothingShared(config, expose);
  const hosts = await openCustomerHosts(project, options, runs);
  const get = async (name: OwnerName): Promise<CustomerHost> => hosts.get(await customerIdFor(name, config));
  return {
    /**
     * @throws CemError `CUSTOMER_UNKNOWN` if the request does not identify one, `CUSTOMER_INVALID` for a header that is not
     * a valid id.
     */
    get,
    async getFor(identity: Parameters<CemServer["openClient"]>[0]): Promise<CustomerHost> {
      const { ownerNameOf } = await import("@cem/mcp-server");
      return get(ownerNameOf({ http: identity === undefined ? {} : { authInfo: identity } }));
    },
    dispose: () => hosts.dispose(),
  };
}

/** Whether a server has customers: a proxy or a token identifies them, and they do not share one workspace. */
function hasCustomers({ customers, server }: Config): boolean {
  if (customers.id !== undefined) return false;
  return customers.header !== undefined || (server.authIssuer !== undefined && !server.sharedWorkspace);
}

/** @throws CemError `CUSTOMER_UNKNOWN` if the request does not identify one, `CUSTOMER_INVALID` for a header that is not a valid id. */
async function customerIdFor({ given, identity }: OwnerName, { customers }: Config): Promise<string> {
  const [{ customerIdOf, customerIdOfClaim, requireCustomerId }, { ownerUnknown }] = await Promise.all([
    import("@cem/workspace"),
    import("@cem/mcp-server"),
  ]);
  if (customers.header !== undefined) {
    if (given === undefined) throw ownerUnknown();
    return requireCustomerId(given);
  }
  if (given !== undefined) return customerIdOfClaim(given);
  if (identity === "") throw ownerUnknown();
  return customerIdOf([identity]);
}

/** @throws CemError `CONFIG_INVALID` if customers would see data that only one of them may see. */
function assertNothingShared({ server }: Config, expose: readonly string[] | undefined): void {
  if ((expose ?? server.expose).length === 0) return;
  throw new CemError(
    "CONFIG_INVALID",
    "server.expose shows what one connection to a server behind has, and each customer has connections of their own. Leave it out, or set server.shared_workspace: true.",
    { details: { setting: "server.expose" } },
  );
}

/** Opens the agents with which a worker executes runs: one for each customer, and one for runs without. */
export async function openWorkerAgents(loaded: Project, options: AgentOptions, openAgent: OpenAgent) {
  const redactor = await redactorOf(loaded, options)?.get();
  const allOptions = { ...options, redactor };
  const customers = await openCustomerHosts(loaded, allOptions, { openAgent });
  const own = new Lazy(async () => openAgent(loaded, allOptions));
  return {
    /**
     * @throws CemError `CUSTOMER_NOT_FOUND` for an invalid id, `CONFIG_INVALID` if the worker belongs to another customer,
     *   `OWNER_GONE` if the customer has been deleted.
     */
    async get(owner: string | undefined, incarnation: string | undefined): Promise<Agent> {
      const ownId = loaded.owner?.id;
      if (owner === undefined || owner === ownId) return own.get();
      if (ownId !== undefined) {
        throw new CemError("CONFIG_INVALID", `The worker is for the customer ${ownId} only (customers.id).`, {
          details: { setting: "customers.id" },
        });
      }
      return (await customers.getSame(owner, incarnation)).agent;
    },
    async dispose(): Promise<void> {
      await customers.dispose();
      await (await own.settled())?.dispose();
      if (options.redactor === undefined) await redactor?.dispose();
    },
  };
}
