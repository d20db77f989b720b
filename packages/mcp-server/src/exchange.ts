import { AsyncLocalStorage } from "node:async_hooks";
import { toErrorInfo } from "@cem/core";
import type { HttpBindings } from "@hono/node-server";
import type { AuthInfo } from "@modelcontextprotocol/server";

/** The client id of all who have the shared token. */
export const SHARED_CLIENT_ID = "shared-token";

/** The HTTP exchange that a request belongs to. */
export interface HttpExchange {
  /** Absent for a request that another replica has forwarded. */
  readonly requestId?: string | undefined;
  /**
   * The client whose share of sessions and runs the request uses: the one that its token names, else its network. A
   * token that all clients share does not tell clients apart.
   */
  quotaOwner: string;
  /** Calls the listener when the answer is sent or the client is gone. */
  onClose: (listener: () => void) => void;
  /** Sets the answer's Retry-After header, unless the answer has begun. */
  retryAfter: (seconds: number) => void;
  /** Logs why the client was not told all. Absent: it is a warning of the process. */
  fault?: ((reason: string, level?: "warn" | "debug") => void) | undefined;
}

/** The environment of the Hono app that serves everything over HTTP. */
export interface HttpEnv {
  Bindings: HttpBindings;
  Variables: {
    /** The client, as its token or a trusted proxy names it. Absent without authorization. */
    authInfo: AuthInfo | undefined;
    /** The JSON of the request's body. Absent where it has none. */
    body: unknown;
  };
}

const exchanges = new AsyncLocalStorage<HttpExchange>();

/** Handles a request so that {@link currentExchange} knows its exchange. */
export function inExchange<T>(exchange: HttpExchange, handle: () => T): T {
  return exchanges.run(exchange, handle);
}

/** The exchange of the request that is being handled. Over stdio there is none. */
export function currentExchange(): HttpExchange {
  return exchanges.getStore() ?? { quotaOwner: "", onClose: () => {}, retryAfter: () => {} };
}

/** Has the log say why the client of the current request was not told all. */
export function reportFault(error: unknown): void {
  const { fault = (reason: string) => process.emitWarning(reason, "CemWarning") } = currentExchange();
  fault(toErrorInfo(error).message);
}

/** The client whose share of the server the current request uses. Empty over stdio. */
export function currentQuotaOwner(): string {
  return currentExchange().quotaOwner;
}
