import { abandonOnAbort } from "@cem/core";
import type { JsonObject } from "@cem/core";
import { ProtocolError } from "@modelcontextprotocol/client";
import type { Client, CreateMessageResult } from "@modelcontextprotocol/client";
import { setWaiting } from "./running-calls.ts";
import type { RunningCalls } from "./running-calls.ts";

/** JSON-RPC code of a sampling request that was refused, by the protocol's own example. */
const SAMPLING_REFUSED = -1;
const SAMPLE_TIMEOUT_MS = 10 * 60_000;

/** Passes sampling requests of a server on to the client whose call it is, and refuses those of nobody. */
export function answerSampling(client: Client, server: string, calls: RunningCalls): void {
  client.setRequestHandler("sampling/createMessage", async ({ params }, { mcpReq }) => {
    const asking = calls.asking();
    const refuse = (why: string): ProtocolError =>
      new ProtocolError(SAMPLING_REFUSED, `Sampling was refused: ${why}.`);
    if (new Set(asking.map(({ session }) => session)).size > 1) {
      throw refuse("calls of several sessions are running, and it is not known whose request it is");
    }
    const caller = asking.findLast(({ sample }) => sample !== undefined);
    if (caller?.sample === undefined) throw refuse("no client with a model is connected to this run");
    const ended = calls.signalOf(caller);
    const late = AbortSignal.timeout(SAMPLE_TIMEOUT_MS);
    const signal = AbortSignal.any([mcpReq.signal, late, ...(ended === undefined ? [] : [ended])]);
    setWaiting(asking, true);
    try {
      const request = { server, params: params as unknown as JsonObject, signal };
      return (await abandonOnAbort(caller.sample(request), signal)) as unknown as CreateMessageResult;
    } catch (error) {
      throw refuse((error instanceof Error ? error.message : String(error)).replace(/\.$/u, ""));
    } finally {
      setWaiting(asking, false);
    }
  });
}
