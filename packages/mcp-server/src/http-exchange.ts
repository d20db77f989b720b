import { AsyncLocalStorage } from "node:async_hooks";
import type { ServerResponse } from "node:http";
import { networkOf } from "./client-network.ts";
import { SHARED_CLIENT_ID } from "./http-auth.ts";
import type { AuthenticatedRequest } from "./http-routes.ts";

/** The HTTP exchange that a request of the web's kind belongs to. */
export interface HttpExchange {
  /** Whose share of the sessions the client uses. */
  payer: string;
  /** Calls the listener when the answer is sent or the client is gone. */
  onClose(listener: () => void): void;
  /** Says in the answer's header after how many seconds to come again, unless the answer has begun. */
  retryAfter(seconds: number): void;
}

const exchanges = new AsyncLocalStorage<HttpExchange>();

/** Handles a request so that {@link currentExchange} knows its exchange. */
export function inExchange<T>(request: AuthenticatedRequest, response: ServerResponse, handle: () => T): T {
  const onClose = (listener: () => void): void => {
    if (response.closed) listener();
    else response.once("close", listener);
  };
  const retryAfter = (seconds: number): void => {
    if (!response.headersSent) response.setHeader("retry-after", String(seconds));
  };
  return exchanges.run({ payer: payerOf(request), onClose, retryAfter }, handle);
}

/** Handles a request that another copy of the server has handed over. */
export function inHandedExchange<T>(exchange: HttpExchange, handle: () => T): T {
  return exchanges.run(exchange, handle);
}

/** The client whose share of the server the request under way uses. Empty over stdio. */
export function currentPayer(): string {
  return currentExchange().payer;
}

/** The exchange of the request that is being handled. */
export function currentExchange(): HttpExchange {
  return exchanges.getStore() ?? { payer: "", onClose: () => {}, retryAfter: () => {} };
}

/**
 * Whose share of sessions and connections a request uses: the client's that its token names, else its address's.
 * A token that all clients share tells nobody apart.
 */
export function payerOf({ auth, clientAddress, socket }: AuthenticatedRequest): string {
  const isTold = auth !== undefined && auth.clientId !== SHARED_CLIENT_ID;
  return isTold ? auth.clientId : networkOf(clientAddress ?? socket.remoteAddress ?? "");
}
