/** The header in which a front tells the client's address. What a client sends in it is left out. */
export const CLIENT_ADDRESS_HEADER = "x-cem-client";

/** A front that listens for clients in the place of a server, and forwards their requests to the server's socket. */
export interface HttpForwarder {
  /** Path of the socket, or of the named pipe, on which the server listens for the front. */
  readonly socketPath: string;
  /**
   * Has the front listen for clients.
   *
   * @param trustedProxies - Addresses that may have any number of connections.
   * @returns the port, which the system has chosen where it was 0.
   * @throws CemError `ADDRESS_UNUSABLE`
   */
  listen(host: string, port: number, trustedProxies: readonly string[]): Promise<number>;
  /** Has the front take no new clients. Requests under way go on. */
  close(): Promise<void>;
}
