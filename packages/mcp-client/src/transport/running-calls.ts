import { AsyncLocalStorage } from "node:async_hooks";
import type { Deadline } from "@cem/bridge";
import type { JSONRPCMessage } from "@modelcontextprotocol/client";
import type { CallOptions, UnansweredQuestion } from "../connection/connection-types.ts";

/** Why a request of a server is given up. */
export const CALL_ENDED = "the call that asked has ended";

/** A running call, as seen by the handlers of a server's requests. */
export interface CallInFlight extends Pick<CallOptions, "onWaiting" | "elicit" | "sample" | "session"> {
  /** Paused while the user is asked. */
  deadline: Deadline;
  /** Set for a list request of the host itself, which can't be the cause of a server's question. */
  isList?: true | undefined;
  /** Set to a question during the call that could not be asked. */
  unansweredQuestion?: UnansweredQuestion | undefined;
}

/**
 * The call on whose behalf code runs. Messages on a call's own HTTP stream are read in the call's context, so that a
 * question there is attributed to the call. Over stdio only responses are, by {@link CallContexts}.
 */
export const currentCall = new AsyncLocalStorage<CallInFlight>();

/**
 * Maps requests to their calls, for a transport that reads all messages from one stream. The SDK handles questions in a
 * response when it arrives.
 */
export class CallContexts {
  readonly #pending = new Map<string | number, CallInFlight>();

  /** Must be called with each sent message. */
  note(message: JSONRPCMessage): void {
    if ("method" in message && message.method === "notifications/cancelled") {
      this.#pending.delete(message.params?.["requestId"] as string | number);
    }
    const call = currentCall.getStore();
    if (call !== undefined && "method" in message && "id" in message) this.#pending.set(message.id, call);
  }

  /** Runs a function for a received message in the context of the call that it answers. */
  run(message: JSONRPCMessage, deliver: () => void): void {
    const id = "method" in message || !("id" in message) ? undefined : message.id;
    const call = id === undefined ? undefined : this.#pending.get(id);
    if (call === undefined || id === undefined) return deliver();
    this.#pending.delete(id);
    return currentCall.run(call, deliver);
  }
}

/** The running calls on one connection. */
export class RunningCalls {
  /** Each with a controller that aborts at its end, if requested. */
  readonly #calls = new Map<CallInFlight, AbortController | undefined>();
  /** Calls with an open question to their user or their client's model. */
  readonly answering = new Set<CallInFlight>();

  get count(): number {
    return this.#calls.size;
  }

  begin(call: CallInFlight): void {
    this.#calls.set(call, undefined);
  }

  end(call: CallInFlight): void {
    const ended = this.#calls.get(call);
    this.#calls.delete(call);
    ended?.abort(new Error(CALL_ENDED));
  }

  has(call: CallInFlight): boolean {
    return this.#calls.has(call);
  }

  /** Aborts when the call ends. `undefined` for one that has ended. */
  signalOf(call: CallInFlight): AbortSignal | undefined {
    if (!this.#calls.has(call)) return undefined;
    const ends = this.#calls.get(call) ?? new AbortController();
    this.#calls.set(call, ends);
    return ends.signal;
  }

  /**
   * The calls on whose behalf a server may be asking: one if known, else all. Protocols up to 2025-11-25 don't identify it.
   */
  asking(): CallInFlight[] {
    const own = currentCall.getStore();
    if (own !== undefined && this.#calls.has(own)) return [own];
    const all = [...this.#calls.keys()];
    const ofTools = all.filter(({ isList }) => isList !== true);
    return ofTools.length > 0 ? ofTools : all;
  }
}

/** Pauses or resumes the timeouts of calls and of their runs. */
export function setWaiting(calls: readonly CallInFlight[], isWaiting: boolean): void {
  for (const { deadline, onWaiting } of calls) {
    if (isWaiting) deadline.pause();
    else deadline.resume();
    onWaiting?.(isWaiting);
  }
}
