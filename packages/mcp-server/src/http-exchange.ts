import { AsyncLocalStorage } from "node:async_hooks";
import type { ServerResponse } from "node:http";
import { isIPv6 } from "node:net";
import { SHARED_CLIENT_ID } from "./http-auth.ts";
import type { AuthenticatedRequest } from "./http-routes.ts";

/** The HTTP exchange that a request of the web's kind belongs to. */
export interface HttpExchange {
  /** Whose share of the sessions the client uses. */
  payer: string;
  /** Calls the listener when the answer is sent or the client is gone. */
  onClose(listener: () => void): void;
}

/** Each group of an IPv6 address has four digits; a customer of a provider has at least the first four groups. */
const NETWORK_GROUPS = 4;

const exchanges = new AsyncLocalStorage<HttpExchange>();

/** Handles a request so that {@link currentExchange} knows its exchange. */
export function inExchange<T>(request: AuthenticatedRequest, response: ServerResponse, handle: () => T): T {
  const onClose = (listener: () => void): void => {
    if (response.closed) listener();
    else response.once("close", listener);
  };
  return exchanges.run({ payer: payerOf(request), onClose }, handle);
}

/** The exchange of the request that is being handled. */
export function currentExchange(): HttpExchange {
  return exchanges.getStore() ?? { payer: "", onClose: () => {} };
}

/**
 * Whose share of sessions and connections a request uses: the client's that its token names, else its address's.
 * A token that all clients share tells nobody apart.
 */
export function payerOf({ auth, socket }: AuthenticatedRequest): string {
  const isTold = auth !== undefined && auth.clientId !== SHARED_CLIENT_ID;
  return isTold ? auth.clientId : networkOf(socket.remoteAddress ?? "");
}

/** An address, or the network of an IPv6 address. */
export function networkOf(address: string): string {
  const mapped = /^::ffff:(?<address>[\d.]+)$/iu.exec(address)?.groups?.["address"];
  if (mapped !== undefined) return mapped;
  if (!isIPv6(address)) return address;
  const [before = "", after] = address.split("%", 1)[0]?.split("::") ?? [];
  const head = before === "" ? [] : before.split(":");
  const tail = after === undefined || after === "" ? [] : after.split(":");
  const zeros = after === undefined ? 0 : Math.max(0, 8 - head.length - tail.length);
  const groups = [...head, ...Array<string>(zeros).fill("0"), ...tail];
  return groups.slice(0, NETWORK_GROUPS).join(":");
}
