import { randomBytes } from "node:crypto";
import type { JsonObject } from "@cem/core";
import { createRequestStateCodec } from "@modelcontextprotocol/server";
import type { InputRequiredResult, RequestStateCodec, ServerContext } from "@modelcontextprotocol/server";
import { currentQuotaOwner } from "../exchange.ts";
import { MAX_KEPT_RUNS, MAX_KEPT_RUNS_PER_CLIENT, YIELDED_RUN_IDLE_MS } from "../limits.ts";
import { OpenQuestions, answersTo, askLater, readAnswers, stateOf } from "../runs/questions.ts";
import { idAtReplica, withoutReplica } from "../runs/run.ts";
import { ownerOf } from "../tools/server-tool.ts";

/** A request to a server behind. It may ask the client something before it is answered. */
export type AskingWork = (options: { signal: AbortSignal; questions: OpenQuestions }) => Promise<JsonObject>;

interface Pending {
  owner: string;
  /** The client whose share of the pending requests it takes. */
  quotaOwner: string;
  questions: OpenQuestions;
  result: Promise<JsonObject>;
  controller: AbortController;
  idleTimer?: NodeJS.Timeout | undefined;
}

/** Requests to servers behind that ask the client something, and wait until it repeats its request with answers. */
export class AskingRequests {
  readonly #pending = new Map<string, Pending>();

  /** Executes a request, or goes on with the one that it repeats. */
  async follow(context: ServerContext, work: AskingWork): Promise<JsonObject | InputRequiredResult> {
    const state = stateOf(context);
    const known = state === undefined ? undefined : this.#take(state, ownerOf(context));
    known?.questions.answer(readAnswers(known.questions.all, context));
    const pending = known ?? start(ownerOf(context), work);
    const cancel = (): void => pending.controller.abort(context.mcpReq.signal.reason);
    context.mcpReq.signal.addEventListener("abort", cancel, { once: true });
    try {
      for (;;) {
        const { questions, result } = pending;
        const answer = await Promise.race([result, questions.arrival]);
        if (answer !== undefined) return answer;
        const { all } = questions;
        const answers = await answersTo(all, context);
        if (answers !== undefined) questions.answer(answers);
        else if (this.#hasRoom(pending)) return askLater(all, this.#keep(pending));
        else questions.cancelAll();
      }
    } finally {
      context.mcpReq.signal.removeEventListener("abort", cancel);
    }
  }

  #hasRoom({ quotaOwner }: Pending): boolean {
    const own = [...this.#pending.values()].filter((other) => other.quotaOwner === quotaOwner).length;
    return own < MAX_KEPT_RUNS_PER_CLIENT && this.#pending.size < MAX_KEPT_RUNS;
  }

  #keep(pending: Pending): string {
    const id = `request-${randomBytes(9).toString("base64url")}`;
    this.#pending.set(id, pending);
    pending.idleTimer = setTimeout(() => {
      this.#pending.delete(id);
      pending.controller.abort(new Error("nobody asked for the request any longer"));
    }, YIELDED_RUN_IDLE_MS).unref();
    return id;
  }

  #take(id: string, owner: string): Pending | undefined {
    const pending = this.#pending.get(id);
    if (pending?.owner !== owner) return undefined;
    clearTimeout(pending.idleTimer);
    this.#pending.delete(id);
    return pending;
  }
}

function start(owner: string, work: AskingWork): Pending {
  const controller = new AbortController();
  const questions = new OpenQuestions();
  const result = work({ signal: controller.signal, questions });
  result.catch(() => {});
  return { owner, quotaOwner: currentQuotaOwner(), questions, result, controller };
}

const KEY_BYTES = 32;

/** Signs the state of answers that a request repeats (2026-07-28), for the client and the method that got it. */
export class RequestStates {
  readonly #replica: string | undefined;
  readonly #codec: RequestStateCodec<string> = createRequestStateCodec<string>({
    key: randomBytes(KEY_BYTES),
    bind: (context) => JSON.stringify([context.mcpReq.method, ownerOf(context)]),
  });

  /** @param replica - The replica of the server that holds what states identify, which they name. */
  constructor(replica?: string) {
    this.#replica = replica;
  }

  /** For the SDK, which refuses a request whose state is not one of ours. */
  readonly verify: RequestStateCodec<string>["verify"] = (state, context) =>
    this.#codec.verify(withoutReplica(this.#replica, state), context);

  /** The answer with its state signed, if it has one. */
  async signed<Answer extends object>(answer: Answer, context: ServerContext): Promise<Answer> {
    const { requestState } = answer as { requestState?: unknown };
    if (typeof requestState !== "string") return answer;
    return {
      ...answer,
      requestState: idAtReplica(this.#replica, await this.#codec.mint(requestState, context)),
    };
  }
}
