import type { Client } from "@modelcontextprotocol/client";
import type { JsonObject } from "@cem/core";
import { abandonOnAbort } from "@cem/bridge";
import type { LogEntry } from "./connection-types.ts";
import type { Deadline } from "@cem/bridge";
import { DEFAULT_ELICIT_TIMEOUT_MS, isSafeUrl } from "./elicitation.ts";
import type { Elicit, ElicitAnswer, ElicitRequest } from "@cem/core";

/** A call that is under way, as far as questions of its server concern it. */
export interface CallInFlight {
  deadline: Deadline;
  onWaiting?: ((isWaiting: boolean) => void) | undefined;
  elicit?: Elicit | undefined;
  session?: string | undefined;
  declinedQuestion?: string | undefined;
}

/** Takes the questions of one server to the user. */
export interface Questions {
  /** Registers the handlers; to be called before the handshake. */
  handle(client: Client): void;
  begin(call: CallInFlight): void;
  end(call: CallInFlight): void;
}

/**
 * A question does not say which call it belongs to, so all calls of the connection wait together, and a
 * question ends when the last call does. While calls of several sessions are under way it is declined: it must not
 * reach the wrong user.
 */
export function createQuestions(
  server: string,
  elicit: Elicit | undefined,
  log: (level: LogEntry["level"], message: string) => void,
): Questions {
  const calls = new Set<CallInFlight>();
  const open = new Set<AbortController>();

  const ask = async (
    ask: Elicit,
    request: (signal: AbortSignal) => ElicitRequest,
    outer: AbortSignal,
  ): Promise<ElicitAnswer> => {
    const abandoned = new AbortController();
    const signal = AbortSignal.any([abandoned.signal, outer, AbortSignal.timeout(DEFAULT_ELICIT_TIMEOUT_MS)]);
    const waiting = [...calls];
    open.add(abandoned);
    for (const call of waiting) {
      call.deadline.pause();
      call.onWaiting?.(true);
    }
    try {
      return await abandonOnAbort(ask(request(signal)), signal);
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

  const decline = (message: string, why: string): ElicitAnswer => {
    log("warn", `The server asked "${message}". Declined: ${why}.`);
    for (const call of calls) call.declinedQuestion = message;
    return { action: "decline" };
  };

  return {
    handle(client) {
      client.setRequestHandler("elicitation/create", async (request, context) => {
        const { params } = request;
        const { message } = params;
        const outer = context.mcpReq.signal;
        if (new Set([...calls].map((call) => call.session)).size > 1) {
          return decline(
            message,
            "calls of several sessions are under way, and it does not say whose user it is for",
          );
        }
        const asker = [...calls].findLast((call) => call.elicit !== undefined)?.elicit ?? elicit;
        if (asker === undefined) return decline(message, "nobody is here to answer");
        if (params.mode === "url") {
          const { url } = params;
          if (!isSafeUrl(url)) return decline(message, "its address is not a web address");
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
