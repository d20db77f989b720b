import { randomBytes } from "node:crypto";
import { createRequestStateCodec } from "@modelcontextprotocol/server";
import type { RequestStateCodec, ServerContext } from "@modelcontextprotocol/server";
import { ownerOf } from "../tools/server-tool.ts";
import { idAtReplica, withoutReplica } from "./run.ts";

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
