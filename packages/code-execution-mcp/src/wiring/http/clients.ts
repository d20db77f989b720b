import type { Config } from "@cem/config";
import { CemError } from "@cem/core";
import type { AuthSettings } from "@cem/mcp-server";
import type { CustomerFolders } from "@cem/workspace";
import type { Project } from "../project.ts";
import { deleteSharedFiles } from "../shared/files.ts";
import { openConfiguredQueue } from "../shared/queue.ts";

/** Settings that decide who may call a server, and which customer's files a caller gets. */
const AUTHORIZATION = /^(?:server\.auth_|customers\.(?:claim|header|id)$)/u;

/** `FOLDER_UNTRUSTED` if, without the held-back settings, anybody could call a server meant for authorized clients. */
export async function findHeldAuthorization({ trust }: Project): Promise<CemError | undefined> {
  const held = trust.held.find(({ name }) => AUTHORIZATION.test(name));
  if (held === undefined) return undefined;
  return (await import("@cem/config")).folderUntrusted(`The setting ${held.name}`, trust.folder);
}

/**
 * The configured authorization of clients over HTTP.
 *
 * @returns `undefined` if none is configured.
 * @throws CemError `AUTH_INVALID` if both a token and an issuer are set.
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
    ownerClaim: customers.claim,
  };
}

/** The folders of customers. Deleting a customer also removes its queued runs and its shared files. */
export async function openCustomerFolders({
  config,
  store,
}: Pick<Project, "config" | "store">): Promise<CustomerFolders> {
  const { createCustomerFolders } = await import("@cem/workspace");
  const { claim, dir, quotas } = config.customers;
  return createCustomerFolders(dir, {
    quotas,
    store: await store?.get(),
    areClaims: claim !== undefined,
    async removeMore(id) {
      const queue = await openConfiguredQueue(config);
      try {
        await queue?.removeOwner(id);
      } finally {
        await queue?.close();
      }
      return deleteSharedFiles({ config, store }, id);
    },
  });
}
