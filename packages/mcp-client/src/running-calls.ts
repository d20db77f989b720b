import { currentCall } from "./current-call.ts";
import type { CallInFlight } from "./call-in-flight.ts";

/** The calls under way on one connection. */
export interface RunningCalls {
  begin(call: CallInFlight): void;
  end(call: CallInFlight): void;
  has(call: CallInFlight): boolean;
  /** Aborts when the call ends. `undefined` for one that has ended. */
  signalOf(call: CallInFlight): AbortSignal | undefined;
  /**
   * The calls on whose behalf a server may ask something now: one where it is known, else all. The protocol of 2025-11-25
   * and older does not say it.
   */
  asking(): CallInFlight[];
}

export function createRunningCalls(): RunningCalls {
  const calls = new Map<CallInFlight, AbortController>();
  return {
    begin(call) {
      calls.set(call, new AbortController());
    },
    end(call) {
      const ended = calls.get(call);
      calls.delete(call);
      ended?.abort(new Error("the call that asked has ended"));
    },
    has: (call) => calls.has(call),
    signalOf: (call) => calls.get(call)?.signal,
    asking() {
      const own = currentCall.getStore();
      return own !== undefined && calls.has(own) ? [own] : [...calls.keys()];
    },
  };
}

/** Stops and starts the clocks of calls and of their runs. */
export function setWaiting(calls: readonly CallInFlight[], isWaiting: boolean): void {
  for (const { deadline, onWaiting } of calls) {
    if (isWaiting) deadline.pause();
    else deadline.resume();
    onWaiting?.(isWaiting);
  }
}
