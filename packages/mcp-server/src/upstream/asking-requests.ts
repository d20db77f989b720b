import { randomUUID } from "node:crypto";
import type { JsonObject } from "@cem/core";
import type { ServerContext } from "@modelcontextprotocol/server";
import { MAX_KEPT_RUNS, MAX_KEPT_RUNS_PER_CLIENT, YIELDED_RUN_IDLE_MS } from "../limits.ts";
import type { createRequestStates } from "../runs/request-states.ts";
import { answersTo, askLater, OpenQuestions, readAnswers, stateOf } from "../runs/questions.ts";
import { clientIdOf } from "../tools/server-tool.ts";

/** A request to an upstream server, which may ask the client something before it answers. */
type AskingRequest = ReturnType<typeof beginning>;

type Begin = (
  options: Pick<OpenQuestions, "elicit" | "sample"> & { signal: AbortSignal },
) => Promise<JsonObject>;

/**
 * Keeps requests to upstream servers that ask the client something, until the client repeats them with its answers (2026-07-28).
 *
 * @returns a function that begins a request, or continues a repeated one, up to its result or its questions. The target is
 *   the prompt or resource, so that the state of one is not accepted for another.
 */
export function createAskingRequests(states: ReturnType<typeof createRequestStates>) {
  const waiting = new Map<string, AskingRequest>();
  const hasRoom = (owner: string): boolean =>
    waiting.size < MAX_KEPT_RUNS &&
    [...waiting.values()].filter((one) => one.owner === owner).length < MAX_KEPT_RUNS_PER_CLIENT;

  const keep = (request: AskingRequest): string => {
    const id = randomUUID();
    waiting.set(id, request);
    const giveUp = (): void => {
      if (waiting.get(id) !== request) return;
      waiting.delete(id);
      request.controller.abort(new Error("Nobody asked for the request any longer."));
    };
    setTimeout(giveUp, YIELDED_RUN_IDLE_MS).unref();
    return id;
  };

  return async (context: ServerContext, target: string, begin: Begin): Promise<JsonObject> => {
    const owner = clientIdOf(context);
    const id = stateOf(context) ?? "";
    const known = waiting.get(id);
    const isRepeated = known?.owner === owner && known.target === target;
    const request = isRepeated ? known : beginning(owner, target, begin);
    const { questions, controller, result } = request;
    if (isRepeated) {
      waiting.delete(id);
      questions.answer(readAnswers(questions.all, context));
    }
    const abort = (): void => controller.abort(context.mcpReq.signal.reason);
    context.mcpReq.signal.addEventListener("abort", abort, { once: true });
    try {
      for (;;) {
        const answer = await Promise.race([result, questions.arrival]);
        if (answer !== undefined) return answer;
        const answers = await answersTo(questions.all, context);
        if (answers !== undefined) questions.answer(answers);
        else if (!hasRoom(owner)) questions.cancelAll();
        else return (await states.signed(askLater(questions.all, keep(request)), context)) as JsonObject;
      }
    } finally {
      context.mcpReq.signal.removeEventListener("abort", abort);
    }
  };
}

function beginning(owner: string, target: string, begin: Begin) {
  const questions = new OpenQuestions();
  const controller = new AbortController();
  const { elicit, sample } = questions;
  const result = begin({ elicit, sample, signal: controller.signal });
  result.catch(() => {});
  return { owner, target, questions, controller, result };
}
