import { randomBytes } from "node:crypto";
import { Lazy, type Replicas } from "@cem/core";
import { createRequestStateCodec } from "@modelcontextprotocol/server";
import type { RequestStateCodec, ServerContext } from "@modelcontextprotocol/server";
import { clientIdOf } from "../tools/server-tool.ts";
import { idAtReplica, withoutReplica } from "./run.ts";

const KEY_BYTES = 32;

/** Signs the state that a repeated request returns, bound to client and method. Replicas accept each other's. */
export function createRequestStates(replicas?: Replicas) {
  const codec = new Lazy(async () => {
    const key = (await replicas?.sharedKey()) ?? randomBytes(KEY_BYTES);
    const bind = (context: ServerContext) => JSON.stringify([context.mcpReq.method, clientIdOf(context)]);
    return createRequestStateCodec<string>({ key, bind });
  });
  /** Used by the SDK to refuse requests with an invalid state. */
  const verify: RequestStateCodec<string>["verify"] = async (state, context) =>
    (await codec.get()).verify(replicas === undefined ? state : withoutReplica(state), context);
  return {
    verify,
    /** Returns the answer with its state signed, if it has one. */
    async signed<Answer extends object>(answer: Answer, context: ServerContext): Promise<Answer> {
      const { requestState } = answer as { requestState?: unknown };
      if (typeof requestState !== "string") return answer;
      const minted = await (await codec.get()).mint(requestState, context);
      return { ...answer, requestState: idAtReplica(replicas?.name, minted) };
    },
  };
}
