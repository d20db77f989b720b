import { CemError } from "@cem/core";
import type { AuthInfo, ServerContext } from "@modelcontextprotocol/server";
import type { ServedParts } from "./tools/server-tool.ts";

/** The agent and the stores of one customer of a server. */
export interface OwnerParts extends ServedParts {
  /** The quota key of its runs, by whichever client they come. Default: the client's. */
  quotaOwner?: string | undefined;
}

/** How a request names the customer that it comes from. */
export interface OwnerName {
  /** The name that the token's claim or the proxy's header has. Absent: `identity` tells customers apart. */
  given?: string | undefined;
  /** The client's identity: one text for each issuer, client and subject. Empty without authorization. */
  identity: string;
}

/** Opens what belongs to the customer that a request comes from. Rejects where that can't be said. */
export type OpenOwner = (name: OwnerName) => Promise<OwnerParts>;

/** The key of a customer's name among what the authorization says of a client. */
const CUSTOMER = "customer";

/** The customer's name that comes with a request. */
export function ownerNameOf({ http }: Pick<ServerContext, "http">): OwnerName {
  const { clientId = "", extra } = http?.authInfo ?? {};
  const given = extra?.[CUSTOMER];
  return { given: typeof given === "string" ? given : undefined, identity: clientId };
}

/** Adds a customer's name to what is known of a client. Another name makes another client of it. */
export function withOwner(authInfo: AuthInfo | undefined, given: string): AuthInfo {
  const known: AuthInfo = authInfo ?? { token: "", clientId: "", scopes: [] };
  return {
    ...known,
    clientId: JSON.stringify([known.clientId, given]),
    extra: { ...known.extra, [CUSTOMER]: given },
  };
}

/** @throws CemError `CUSTOMER_UNKNOWN` */
export function ownerUnknown(): CemError {
  return new CemError("CUSTOMER_UNKNOWN", "The request does not say which customer it comes from.");
}
