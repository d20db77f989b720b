import type { JsonObject } from "./json.ts";

/** An HTTP request that one replica of a server forwards to the one that holds its session or its run. */
export interface ForwardedRequest {
  method: string;
  url: string;
  headers: [string, string][];
  body?: string | undefined;
  /** The client, as the replica that received the request authorized it. */
  client: JsonObject;
}

/** The answer to a {@link ForwardedRequest}. */
export interface ForwardedAnswer {
  status: number;
  headers: [string, string][];
  /** Absent where it has no body. */
  body?: AsyncIterable<Uint8Array> | undefined;
}

/** The replicas of one server behind one address. Through any of them, clients reach the sessions and runs of all. */
export interface Replicas {
  readonly specificationVersion: "v1";
  /** This replica's name: letters and digits. The ids that it gives to sessions and runs begin with it. */
  readonly name: string;
  /** Begins to answer requests that other replicas forward. The signal aborts when the client is gone. */
  receive(
    handle: (request: ForwardedRequest, signal: AbortSignal) => Promise<ForwardedAnswer>,
  ): Promise<void>;
  /** 32 random bytes that the replicas share, to verify each other's signatures. @throws CemError `STORE_UNAVAILABLE` */
  sharedKey(): Promise<Uint8Array>;
  /**
   * Forwards a request to another replica.
   *
   * @returns `undefined` when the replica no longer exists.
   * @throws CemError `STORE_UNAVAILABLE`
   */
  send(replica: string, request: ForwardedRequest, signal: AbortSignal): Promise<ForwardedAnswer | undefined>;
}
