import { AsyncLocalStorage } from "node:async_hooks";
import type { JSONRPCMessage } from "@modelcontextprotocol/client";
import type { CallInFlight } from "./call-in-flight.ts";

/**
 * The call on whose behalf code runs. What a server sends on a call's own HTTP stream is read in the call's context, so
 * that a question there is known to be the call's. Over stdio only a response is, by {@link createCallContexts}.
 */
export const currentCall = new AsyncLocalStorage<CallInFlight>();

/** Keeps the calls that requests were sent for. */
export interface CallContexts {
  /** To be called with each message that is sent. */
  note(message: JSONRPCMessage): void;
  /** Runs a function for a message that was received, in the context of the call that it answers. */
  run(message: JSONRPCMessage, deliver: () => void): void;
}

/** For transports that read all messages from one stream. The SDK asks the questions of a response as it arrives. */
export function createCallContexts(): CallContexts {
  const pending = new Map<string | number, CallInFlight>();
  return {
    note(message) {
      if ("method" in message && message.method === "notifications/cancelled") {
        pending.delete(message.params?.["requestId"] as string | number);
      }
      const call = currentCall.getStore();
      if (call !== undefined && "method" in message && "id" in message) pending.set(message.id, call);
    },
    run(message, deliver) {
      const id = "method" in message || !("id" in message) ? undefined : message.id;
      const call = id === undefined ? undefined : pending.get(id);
      if (call === undefined || id === undefined) return deliver();
      pending.delete(id);
      return currentCall.run(call, deliver);
    },
  };
}
