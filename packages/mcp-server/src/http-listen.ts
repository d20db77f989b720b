import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { CemError } from "@cem/core";
import { networkOf } from "./client-network.ts";
import { bracketed } from "./http-options.ts";
import {
  HEADERS_TIMEOUT_MS,
  MAX_CONNECTIONS,
  MAX_CONNECTIONS_PER_ADDRESS,
  MAX_HEADER_BYTES,
  REQUEST_TIMEOUT_MS,
} from "./limits.ts";
import type { TrustedProxies } from "./trusted-proxies.ts";

const TIMEOUTS = {
  maxHeaderSize: MAX_HEADER_BYTES,
  headersTimeout: HEADERS_TIMEOUT_MS,
  requestTimeout: REQUEST_TIMEOUT_MS,
};

/**
 * Listens for clients, with limits for each of them.
 *
 * @throws CemError `ADDRESS_UNUSABLE`
 */
export async function listenForClients(
  host: string,
  port: number,
  proxies: TrustedProxies,
): Promise<{ server: Server; port: number }> {
  const server = createServer(TIMEOUTS);
  server.maxConnections = MAX_CONNECTIONS;
  limitConnections(server, MAX_CONNECTIONS_PER_ADDRESS, proxies);
  await listen(server, host, port);
  return { server, port: (server.address() as AddressInfo).port };
}

/** Listens for the front that forwards requests of clients to a socket. */
export async function listenForFront(socketPath: string): Promise<Server> {
  const server = createServer(TIMEOUTS);
  // The front keeps its connections; who closes one that is being used again makes a request fail.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ path: socketPath }, resolve);
  });
  return server;
}

/** Closes connections of an address that has its share of them. Those of a proxy are many clients'. */
function limitConnections(listening: Server, limit: number, proxies: TrustedProxies): void {
  const open = new Map<string, number>();
  listening.on("connection", (socket) => {
    if (proxies.has(socket.remoteAddress ?? "")) return;
    const network = networkOf(socket.remoteAddress ?? "");
    const count = (open.get(network) ?? 0) + 1;
    if (count > limit) {
      socket.destroy();
      return;
    }
    open.set(network, count);
    socket.once("close", () => {
      const left = (open.get(network) ?? 1) - 1;
      if (left > 0) open.set(network, left);
      else open.delete(network);
    });
  });
}

/** Why an address can't be listened on, by the code of Node's error. */
const REASONS: Readonly<Record<string, readonly [reason: string, words: string]>> = {
  EADDRINUSE: ["taken", "the port is taken"],
  EACCES: ["not-permitted", "this process has no permission for the port"],
  EADDRNOTAVAIL: ["not-local", "the address does not belong to this machine"],
  ENOTFOUND: ["not-found", "there is no host of this name"],
};

async function listen(server: Server, host: string, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const [reason, words] = REASONS[error.code ?? ""] ?? [error.code, error.message];
      const message = `Can't listen on ${bracketed(host)}:${port}: ${words}.`;
      reject(new CemError("ADDRESS_UNUSABLE", message, { details: { host, port, reason }, cause: error }));
    });
    server.listen({ host, port }, resolve);
  });
}
