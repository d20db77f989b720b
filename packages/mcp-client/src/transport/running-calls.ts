import { AsyncLocalStorage } from "node:async_hooks";
import type { Deadline } from "@cem/bridge";
import type { JSONRPCMessage } from "@modelcontextprotocol/client";
import type { CallOptions, UnansweredQuestion } from "../connection/connection-types.ts";

/** A running call, as the handlers of a server's own requests see it. */
export interface CallInFlight extends Pick<CallOptions, "onWaiting" | "elicit" | "sample" | "session"> {
  /** Paused while the user is asked. */
  deadline: Deadline;
  /** Set for a list that the host reads by itself: it has no part in what the server asks while tools are called. */
  isList?: true | undefined;
  /** Set to a question during the call that nobody could be asked. */
  unansweredQuestion?: UnansweredQuestion | undefined;
}

/**
 * The call on whose behalf code runs. What a server sends on a call's own HTTP stream is read in the call's context, so
 * that a question there is known to be the call's. Over stdio only a response is, by {@link CallContexts}.
 */
export const currentCall = new AsyncLocalStorage<CallInFlight>();

/**
 * The calls that requests were sent for, of a transport that reads all messages from one stream. The SDK asks the questions
 * of a response as it arrives.
 */
export class CallContexts {
  readonly #pending = new Map<string | number, CallInFlight>();

  /** To be called with each message that is sent. */
  note(message: JSONRPCMessage): void {
    if ("method" in message && message.method === "notifications/cancelled") {
      this.#pending.delete(message.params?.["requestId"] as string | number);
    }
    const call = currentCall.getStore();
    if (call !== undefined && "method" in message && "id" in message) this.#pending.set(message.id, call);
  }

  /** Runs a function for a message that was received, in the context of the call that it answers. */
  run(message: JSONRPCMessage, deliver: () => void): void {
    const id = "method" in message || !("id" in message) ? undefined : message.id;
    const call = id === undefined ? undefined : this.#pending.get(id);
    if (call === undefined || id === undefined) return deliver();
    this.#pending.delete(id);
    return currentCall.run(call, deliver);
  }
}

/** The calls under way on one connection. */
export class RunningCalls {
  /** Each with the controller that tells of its end, where somebody asked for it. */
  readonly #calls = new Map<CallInFlight, AbortController | undefined>();
  /** Those that have a question to their user or their client's model open. */
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
    ended?.abort(new Error("the call that asked has ended"));
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
   * The calls on whose behalf a server may ask something now: one where it is known, else all. The protocol of 2025-11-25
   * and older does not say it.
   */
  asking(): CallInFlight[] {
    const own = currentCall.getStore();
    if (own !== undefined && this.#calls.has(own)) return [own];
    const all = [...this.#calls.keys()];
    const ofTools = all.filter(({ isList }) => isList !== true);
    return ofTools.length > 0 ? ofTools : all;
  }
}

/** Stops and starts the clocks of calls and of their runs. */
export function setWaiting(calls: readonly CallInFlight[], isWaiting: boolean): void {
  for (const { deadline, onWaiting } of calls) {
    if (isWaiting) deadline.pause();
    else deadline.resume();
    onWaiting?.(isWaiting);
  }
}

/** The longest timeout of a timer, which disables the SDK's own: a call's timeout is kept by its deadline. */
export const NO_SDK_TIMEOUT_MS = 2_147_483_647;
