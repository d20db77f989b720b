import type { JsonObject } from "./json.ts";

/** An HTTP request that one copy of a server hands to another, which holds the session or the run that it is about. */
export interface HandedRequest {
  method: string;
  url: string;
  headers: [string, string][];
  body?: string | undefined;
  /** What the copy that took the request knows of the client. */
  client: JsonObject;
}

/** The answer to a {@link HandedRequest}. */
export interface HandedAnswer {
  status: number;
  headers: [string, string][];
  /** Absent where it has no body. */
  body?: AsyncIterable<Uint8Array> | undefined;
}

/** The copies of one server behind one address. What one of them holds, clients reach through any. */
export interface ServerCopies {
  readonly specificationVersion: "v1";
  /** This copy's name: letters and digits. The ids that it gives to sessions and runs begin with it. */
  readonly name: string;
  /** Answers from now on what other copies hand over. The signal aborts when the client is gone. */
  receive(handle: (request: HandedRequest, signal: AbortSignal) => Promise<HandedAnswer>): Promise<void>;
  /**
   * Hands a request to another copy.
   *
   * @returns `undefined` where there is no such copy any longer.
   * @throws CemError `STORE_UNAVAILABLE`
   */
  send(copy: string, request: HandedRequest, signal: AbortSignal): Promise<HandedAnswer | undefined>;
}
