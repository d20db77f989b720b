import type { JsonObject } from "./json.ts";

/** A request of a tool's server for a completion by the model of the user's client (MCP sampling). Untrusted. */
export interface SampleRequest {
  server: string;
  /** The parameters of `sampling/createMessage`, as the server sent them. */
  params: JsonObject;
  /** Aborts when the call ends and the answer is no longer needed. */
  signal: AbortSignal;
}

/**
 * Passes a sampling request to the user's client.
 *
 * @returns the result of `sampling/createMessage`.
 * @throws an error that says why nobody samples, as a sentence.
 */
export type Sample = (request: SampleRequest) => Promise<JsonObject>;
