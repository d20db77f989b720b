import { abandonOnAbort, nobodyAsked } from "@cem/core";
import type { Elicit, ElicitAnswer, ElicitRequest, JsonObject } from "@cem/core";
import { ProtocolError, type Client, type CreateMessageResult } from "@modelcontextprotocol/client";
import { CALL_ENDED, setWaiting, type CallInFlight, type RunningCalls } from "../transport/running-calls.ts";
import { isWebUrl } from "../transport/server-fetch.ts";

/** Timeout of a question to a user or to a client's model. */
const ANSWER_TIMEOUT_MS = 10 * 60_000;

/**
 * Creates a handler that passes elicitation requests to the user.
 *
 * A request is cancelled while calls of several sessions are running, so that it can't reach the wrong user.
 *
 * @param elicit - Asks the user if no running call has its own `elicit`.
 * @returns a function that registers the handler at a client, before the handshake.
 */
export function createElicitationHandler(
  server: string,
  calls: RunningCalls,
  elicit: Elicit | undefined,
  log: (level: "warn", message: string) => void,
): (client: Client) => void {
  const ask = async (
    asking: readonly CallInFlight[],
    request: (signal: AbortSignal) => ElicitRequest,
    outer: AbortSignal,
  ): Promise<ElicitAnswer> => {
    try {
      return await askThrough(calls, asking, outer, {
        canAsk: (call) => call.elicit !== undefined,
        ask: async (caller, signal) => {
          const asker = caller?.elicit ?? elicit;
          if (asker === undefined) throw new Error(CALL_ENDED);
          const asked = request(signal);
          const answer = await asker(asked);
          if (answer.action !== "cancel" || answer.reason === undefined) return answer;
          return cancel(asking, asked.message, answer.reason);
        },
      });
    } catch (error) {
      log("warn", `The question was not answered: ${error instanceof Error ? error.message : String(error)}`);
      return { action: "cancel" };
    }
  };

  /** The protocol's answer for a question that the user has neither accepted nor declined. */
  const cancel = (asking: readonly CallInFlight[], message: string, reason: string): ElicitAnswer => {
    log("warn", `The server asked "${message}". ${reason}`);
    for (const call of asking) call.unansweredQuestion = { message, reason };
    return { action: "cancel" };
  };

  return (client) => {
    client.setRequestHandler("elicitation/create", async ({ params }, { mcpReq }) => {
      const { message } = params;
      const asking = calls.asking();
      const refuse = (why: string): ElicitAnswer => cancel(asking, message, nobodyAsked(why).reason);
      if (new Set(asking.map((call) => call.session)).size > 1) {
        return refuse("calls of several sessions are running, and it does not say which one asks");
      }
      if (elicit === undefined && asking.every((call) => call.elicit === undefined)) {
        return refuse("no user is connected to this run");
      }
      if (params.mode === "url" && !isWebUrl(params.url)) return refuse("its URL is not an HTTP URL");
      const form =
        params.mode === "url"
          ? ({ mode: "url", url: params.url } as const)
          : ({ mode: "form", requestedSchema: params.requestedSchema as JsonObject } as const);
      return await ask(asking, (signal) => ({ server, message, signal, ...form }), mcpReq.signal);
    });
  };
}

interface Asker<Answer> {
  /** Whether a call has someone to ask. */
  canAsk: (call: CallInFlight) => boolean;
  ask: (caller: CallInFlight | undefined, signal: AbortSignal) => Promise<Answer>;
}

/**
 * Passes on a request of a server through one of the calls that may have caused it. Over HTTP and in 2026-07-28 that call is
 * known. Otherwise it may be any of the connection's running calls: all of them wait for the answer, and if the one that was
 * chosen ends, another one of the same session takes over.
 */
async function askThrough<Answer>(
  calls: RunningCalls,
  asking: readonly CallInFlight[],
  outer: AbortSignal,
  { canAsk, ask }: Asker<Answer>,
): Promise<Answer> {
  const { answering } = calls;
  const late = AbortSignal.timeout(ANSWER_TIMEOUT_MS);
  const callers = (): CallInFlight[] => asking.filter((call) => canAsk(call) && calls.has(call));
  setWaiting(asking, true);
  try {
    for (;;) {
      // Servers ask in the order of the calls, mostly once per call.
      const caller = callers().find((call) => !answering.has(call)) ?? callers().at(-1);
      if (caller !== undefined) answering.add(caller);
      const ends = caller === undefined ? signalOfLast(asking, calls) : calls.signalOf(caller);
      const signal = AbortSignal.any([outer, late, ...(ends === undefined ? [] : [ends])]);
      try {
        return await abandonOnAbort(ask(caller, signal), signal);
      } catch (error) {
        const goesOn = ends?.aborted === true && callers().length > 0;
        if (!goesOn || outer.aborted || late.aborted) throw error;
      } finally {
        if (caller !== undefined) answering.delete(caller);
      }
    }
  } finally {
    setWaiting(asking, false);
  }
}

/** Aborts when the last of the calls ends. `undefined` if none is running. */
function signalOfLast(asking: readonly CallInFlight[], calls: RunningCalls): AbortSignal | undefined {
  const running = asking.map((call) => calls.signalOf(call)).filter((signal) => signal !== undefined);
  if (running.length === 0) return undefined;
  const all = new AbortController();
  const check = (): void => {
    if (running.every((signal) => signal.aborted)) all.abort(running[0]?.reason);
  };
  for (const signal of running) signal.addEventListener("abort", check, { once: true });
  return all.signal;
}

/** JSON-RPC code of a refused sampling request, from the protocol's example. */
const SAMPLING_REFUSED = -1;
const NO_MODEL = "no client with a model is connected to this run";

/** Forwards sampling requests of a server to the client of the call, and refuses those that belong to no call. */
export function answerSampling(client: Client, server: string, calls: RunningCalls): void {
  client.setRequestHandler("sampling/createMessage", async ({ params }, { mcpReq }) => {
    const asking = calls.asking();
    const refuse = (why: string): ProtocolError =>
      new ProtocolError(SAMPLING_REFUSED, `Sampling was refused: ${why}.`);
    if (new Set(asking.map(({ session }) => session)).size > 1) {
      throw refuse("calls of several sessions are running, and it is not known whose request it is");
    }
    if (asking.every(({ sample }) => sample === undefined)) throw refuse(NO_MODEL);
    try {
      return await askThrough(calls, asking, mcpReq.signal, {
        canAsk: ({ sample }) => sample !== undefined,
        ask: async (caller, signal) => {
          if (caller?.sample === undefined) throw new Error(CALL_ENDED);
          const answer = await caller.sample({ server, params: params as unknown as JsonObject, signal });
          return answer as unknown as CreateMessageResult;
        },
      });
    } catch (error) {
      throw refuse((error instanceof Error ? error.message : String(error)).replace(/\.$/u, ""));
    }
  });
}
