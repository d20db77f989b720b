import { randomBytes } from "node:crypto";
import { Lazy } from "@cem/core";
import type { Replicas } from "@cem/core";
import { createRequestStateCodec } from "@modelcontextprotocol/server";
import type { RequestStateCodec, ServerContext } from "@modelcontextprotocol/server";
import { ownerOf } from "../tools/server-tool.ts";
import { idAtReplica, withoutReplica } from "./run.ts";

const KEY_BYTES = 32;

/**
 * Signs the state of answers that a request repeats (2026-07-28), for the client and the method that got it. What one replica of the
 * server has signed the others take, since one may go on with the runs of another that is gone.
 */
export class RequestStates {
  readonly #replicas: Replicas | undefined;
  readonly #codec = new Lazy(async (): Promise<RequestStateCodec<string>> => {
    const key = (await this.#replicas?.sharedKey()) ?? randomBytes(KEY_BYTES);
    return createRequestStateCodec<string>({
      key,
      bind: (context) => JSON.stringify([context.mcpReq.method, ownerOf(context)]),
    });
  });

  constructor(replicas?: Replicas) {
    this.#replicas = replicas;
  }

  /** For the SDK, which refuses a request whose state is not one of ours. */
  readonly verify: RequestStateCodec<string>["verify"] = async (state, context) =>
    (await this.#codec.get()).verify(this.#replicas === undefined ? state : withoutReplica(state), context);

  /** The answer with its state signed, if it has one. */
  async signed<Answer extends object>(answer: Answer, context: ServerContext): Promise<Answer> {
    const { requestState } = answer as { requestState?: unknown };
    if (typeof requestState !== "string") return answer;
    return {
      ...answer,
      requestState: idAtReplica(
        this.#replicas?.name,
        await (await this.#codec.get()).mint(requestState, context),
      ),
    };
  }
}
