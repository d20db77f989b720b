import type { Config } from "@cem/config";
import { CemError } from "@cem/core";
import type { AuthSettings } from "@cem/mcp-server";
import type { CustomerFolders } from "@cem/workspace";
import type { Project } from "../project.ts";
import { deleteSharedFiles } from "../shared/files.ts";
import { openConfiguredQueue } from "../shared/queue.ts";

/** Settings that say who may call a server, and whose files a caller gets. */
const AUTHORIZATION = /^(?:server\.auth_|customers\.(?:claim|header|id)$)/u;

/** `FOLDER_UNTRUSTED` where, without what is held back, anybody could call what was to be for some. */
export async function findHeldAuthorization({ trust }: Project): Promise<CemError | undefined> {
  const held = trust.held.find(({ name }) => AUTHORIZATION.test(name));
  if (held === undefined) return undefined;
  return (await import("@cem/config")).folderUntrusted(`The setting ${held.name}`, trust.folder);
}

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
    ownerClaim: customers.claim,
  };
}

/** The folders of customers. With one that is deleted, its runs in the queue and files that machines share are removed. */
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
