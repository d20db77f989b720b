import { abandonOnAbort, nobodyAsked } from "@cem/core";
import type { Deadline } from "@cem/bridge";
import type { Elicit, ElicitAnswer, ElicitRequest, JsonObject } from "@cem/core";
import type { Client } from "@modelcontextprotocol/client";
import type { LogEntry, UnansweredQuestion } from "./connection-types.ts";
import { isWebUrl } from "./web-url.ts";

/** How long a question waits for the user's answer. */
const ANSWER_TIMEOUT_MS = 10 * 60_000;

/** A running call, as the elicitation handler sees it. */
export interface CallInFlight {
  /** Paused while the user is asked. */
  deadline: Deadline;
  onWaiting?: ((isWaiting: boolean) => void) | undefined;
  elicit?: Elicit | undefined;
  session?: string | undefined;
  /** Set to a question during the call that nobody could be asked. */
  unansweredQuestion?: UnansweredQuestion | undefined;
}

/** Answers the elicitation requests of one server. */
export interface ElicitationHandler {
  /** Registers the handler at a client; to be called before the handshake. */
  register(client: Client): void;
  begin(call: CallInFlight): void;
  end(call: CallInFlight): void;
}

/**
 * Creates a handler that passes elicitation requests to the user.
 *
 * The protocol does not say which call a request belongs to. So all running calls of the connection wait for the
 * answer, a request is cancelled when the last call ends, and while calls of several sessions are running, so that it can't reach the wrong user.
 *
 * @param elicit asks the user when no running call brings an `elicit` of its own.
 */
export function createElicitationHandler(
  server: string,
  elicit: Elicit | undefined,
  log: (level: LogEntry["level"], message: string) => void,
): ElicitationHandler {
  const calls = new Set<CallInFlight>();
  const open = new Set<AbortController>();

  const ask = async (
    ask: Elicit,
    request: (signal: AbortSignal) => ElicitRequest,
    outer: AbortSignal,
  ): Promise<ElicitAnswer> => {
    const abandoned = new AbortController();
    const signal = AbortSignal.any([abandoned.signal, outer, AbortSignal.timeout(ANSWER_TIMEOUT_MS)]);
    const waiting = [...calls];
    open.add(abandoned);
    for (const call of waiting) {
      call.deadline.pause();
      call.onWaiting?.(true);
    }
    try {
      const asked = request(signal);
      const answer = await abandonOnAbort(ask(asked), signal);
      if (answer.action !== "cancel" || answer.reason === undefined) return answer;
      return cancel(asked.message, answer.reason);
    } catch (error) {
      log("warn", `The question was not answered: ${error instanceof Error ? error.message : String(error)}`);
      return { action: "cancel" };
    } finally {
      open.delete(abandoned);
      for (const call of waiting) {
        call.deadline.resume();
        call.onWaiting?.(false);
      }
    }
  };

  /** The protocol's answer for what the user has neither accepted nor declined. */
  const cancel = (message: string, reason: string): ElicitAnswer => {
    log("warn", `The server asked "${message}". ${reason}`);
    for (const call of calls) call.unansweredQuestion = { message, reason };
    return { action: "cancel" };
  };
  const refuse = (message: string, why: string): ElicitAnswer => cancel(message, nobodyAsked(why).reason);

  return {
    register(client) {
      client.setRequestHandler("elicitation/create", async (request, context) => {
        const { params } = request;
        const { message } = params;
        const outer = context.mcpReq.signal;
        if (new Set([...calls].map((call) => call.session)).size > 1) {
          return refuse(message, "calls of several sessions are running, and it does not say which one asks");
        }
        const asker = [...calls].findLast((call) => call.elicit !== undefined)?.elicit ?? elicit;
        if (asker === undefined) return refuse(message, "no user is connected to this run");
        if (params.mode === "url") {
          const { url } = params;
          if (!isWebUrl(url)) return refuse(message, "its URL is not an HTTP URL");
          return await ask(asker, (signal) => ({ server, message, signal, mode: "url", url }), outer);
        }
        const requestedSchema = params.requestedSchema as JsonObject;
        return await ask(
          asker,
          (signal) => ({ server, message, signal, mode: "form", requestedSchema }),
          outer,
        );
      });
    },
    begin(call) {
      calls.add(call);
    },
    end(call) {
      calls.delete(call);
      if (calls.size > 0) return;
      for (const abandoned of open) abandoned.abort(new Error("the call that asked has ended"));
    },
  };
}
