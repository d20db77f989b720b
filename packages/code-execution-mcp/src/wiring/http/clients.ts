import type { Config } from "@cem/config";
import { CemError, isGivenCustomerId } from "@cem/core";
import type { AuthSettings, CustomerName } from "@cem/mcp-server";
import type { Project } from "../project.ts";
import { deleteSharedFiles } from "../shared/files.ts";
import { openConfiguredQueue } from "../shared/queue.ts";

/**
 * How the configuration authorizes clients over HTTP.
 *
 * @returns `undefined` where it does not.
 * @throws CemError `AUTH_INVALID` where a token and an issuer are both set.
 */
export function authOf({ customers, server }: Config): AuthSettings | undefined {
  const { authToken, authIssuer, authAudience, authJwksUrl, authScopes } = server;
  if (authToken !== undefined && authIssuer !== undefined) {
    throw new CemError("AUTH_INVALID", "A token and an issuer are both set; only one can authorize clients.");
  }
  if (authToken !== undefined) return { token: authToken.reveal() };
  if (authIssuer === undefined) return undefined;
  return {
    issuer: authIssuer,
    scopes: authScopes,
    audience: authAudience,
    jwksUrl: authJwksUrl,
    customerClaim: customers.claim,
  };
}

/** Whether a server has customers: where a proxy or a token says who they are, and they do not share one workspace. */
export function hasCustomers({ customers, server }: Config): boolean {
  if (customers.id !== undefined) return false;
  return customers.header !== undefined || (server.authIssuer !== undefined && !server.sharedWorkspace);
}

/**
 * The id of the customer that a request comes from.
 *
 * @throws CemError `CUSTOMER_UNKNOWN` where the request does not say, `CUSTOMER_INVALID` for a header that can't be an id.
 */
export async function customerIdFor(
  { given, identity }: CustomerName,
  { customers }: Config,
): Promise<string> {
  const [{ customerIdOf, requireCustomerId }, { customerUnknown }] = await Promise.all([
    import("@cem/workspace"),
    import("@cem/mcp-server"),
  ]);
  if (customers.header !== undefined) {
    if (given === undefined) throw customerUnknown();
    return requireCustomerId(given);
  }
  if (given !== undefined) return isGivenCustomerId(given) ? given : customerIdOf(["claim", given]);
  if (identity === "") throw customerUnknown();
  return customerIdOf([identity]);
}

/** @throws CemError `CONFIG_INVALID` where customers would see what only one of them may. */
export function assertNothingShared({ server }: Config, expose: readonly string[] | undefined): void {
  if ((expose ?? server.expose).length === 0) return;
  throw new CemError(
    "CONFIG_INVALID",
    "server.expose shows what one connection to a server behind has, and each customer has connections of their own. Leave it out, or set server.shared_workspace: true.",
    { details: { setting: "server.expose" } },
  );
}

/**
 * Removes what there is of a customer beyond folders and store: runs in the queue, and files that machines share.
 *
 * @returns whether there were files.
 */
export async function removeElsewhere(
  loaded: Pick<Project, "config" | "store">,
  id: string,
): Promise<boolean> {
  const queue = await openConfiguredQueue(loaded.config);
  try {
    await queue?.removeCustomer(id);
  } finally {
    await queue?.close();
  }
  return deleteSharedFiles(loaded, id);
}
