import { randomUUID } from "node:crypto";
import type { Elicit, ElicitRequest } from "@cem/core";
import type {
  ElicitRequestFormParams,
  ElicitRequestURLParams,
  ServerContext,
} from "@modelcontextprotocol/server";

/**
 * Takes what a tool asks while it runs to the user of the client that started the run. A question does not say which run
 * it came from: while runs of several clients are under way it is declined, so that it never reaches another's user.
 *
 * Clients of the older generation of the protocol can be asked; those of 2026-07-28 can't while a call is under way.
 */
export class Questions {
  readonly #calls = new Map<ServerContext, string>();

  /** A call that may be asked for as long as the work goes on. */
  async during<T>(context: ServerContext, session: string, work: () => Promise<T>): Promise<T> {
    this.#calls.set(context, session);
    try {
      return await work();
    } finally {
      this.#calls.delete(context);
    }
  }

  readonly elicit: Elicit = async (request) => {
    const [context] = this.#calls.keys();
    const isOneClient = new Set(this.#calls.values()).size === 1;
    if (context === undefined || !isOneClient) return { action: "decline" };
    try {
      const { action, content } = await context.mcpReq.elicitInput(toParams(request), {
        signal: request.signal,
      });
      if (action !== "accept") return { action };
      return content === undefined ? { action } : { action, content };
    } catch (error) {
      if (request.signal.aborted) throw error;
      // The client can't ask its user, or its connection is of the newer generation.
      return { action: "decline" };
    }
  };
}

function toParams(request: ElicitRequest): ElicitRequestFormParams | ElicitRequestURLParams {
  // Whose words these are has to be said: they are shown as if they came from here.
  const message = `${request.server} asks: ${request.message}`;
  if (request.mode === "url") return { mode: "url", message, url: request.url, elicitationId: randomUUID() };
  const requestedSchema = request.requestedSchema as ElicitRequestFormParams["requestedSchema"];
  return { mode: "form", message, requestedSchema };
}
