import { AsyncLocalStorage } from "node:async_hooks";
import { toErrorInfo } from "@cem/core";
import type { HttpBindings } from "@hono/node-server";
import type { AuthInfo } from "@modelcontextprotocol/server";

/** The client id of all clients with the shared token. */
export const SHARED_CLIENT_ID = "shared-token";

/** The HTTP exchange that a request belongs to. */
export interface HttpExchange {
  /** Absent for a request forwarded by another replica. */
  readonly requestId?: string | undefined;
  /** The quota's customer or client: that of a token or a proxy, else its network. A shared token names none. */
  quotaOwner: string;
  /** Calls the listener when the answer was sent or the client has disconnected. */
  onClose: (listener: () => void) => void;
  /** Sets the answer's Retry-After header, unless the headers were already sent. */
  retryAfter: (seconds: number) => void;
  /** Cuts the client's connection, since its answer can't be completed. */
  cut?: (() => void) | undefined;
  /** Logs a reason that was withheld from the client. Absent: it is a process warning. */
  fault?: ((reason: string, level?: "warn" | "debug") => void) | undefined;
}

/** The environment of the Hono app that serves everything over HTTP. */
export interface HttpEnv {
  Bindings: HttpBindings;
  Variables: {
    /** The client, as identified by its token or a trusted proxy. Absent without authorization. */
    authInfo: AuthInfo | undefined;
    /** The parsed JSON body of the request. Absent if there is none. */
    body: unknown;
  };
}

const exchanges = new AsyncLocalStorage<HttpExchange>();

/** Handles a request in a context in which {@link currentExchange} returns its exchange. */
export function inExchange<T>(exchange: HttpExchange, handle: () => T): T {
  return exchanges.run(exchange, handle);
}

/** The exchange of the current request. Over stdio there is none. */
export function currentExchange(): HttpExchange {
  return exchanges.getStore() ?? { quotaOwner: "", onClose: () => {}, retryAfter: () => {} };
}

/** Logs an error whose reason was withheld from the client of the current request. */
export function reportFault(error: unknown): void {
  const { fault = (reason: string) => process.emitWarning(reason, "CemWarning") } = currentExchange();
  fault(toErrorInfo(error).message);
}

/** The customer or client whose quota the current request uses. Empty over stdio. */
export function currentQuotaOwner(): string {
  return currentExchange().quotaOwner;
}
