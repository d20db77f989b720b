import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { CemError } from "@cem/core";
import {
  HEADERS_TIMEOUT_MS,
  KEEP_ALIVE_MS,
  MAX_CONNECTIONS,
  MAX_CONNECTIONS_PER_ADDRESS,
  MAX_HEADER_BYTES,
  REQUEST_TIMEOUT_MS,
} from "../limits.ts";
import { bracketed } from "./options.ts";
import { sharePerNetwork, type TrustedProxies } from "./trusted-proxies.ts";

/** Why listening on an address fails, by the Node.js error code. */
const REASONS: Readonly<Record<string, readonly [reason: string, words: string]>> = {
  EADDRINUSE: ["taken", "the port is taken"],
  EACCES: ["not-permitted", "this process has no permission for the port"],
  EADDRNOTAVAIL: ["not-local", "the address does not belong to this machine"],
  ENOTFOUND: ["not-found", "there is no host of this name"],
};

/** Listens for clients, with per-client limits. @throws CemError `ADDRESS_UNUSABLE` */
export async function listenForClients(
  host: string,
  port: number,
  proxies: TrustedProxies,
): Promise<{ server: Server; port: number }> {
  const server = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
  });
  server.maxConnections = MAX_CONNECTIONS;
  // Connections are limited per address, except for proxies, which serve many clients.
  const reserve = sharePerNetwork(MAX_CONNECTIONS_PER_ADDRESS);
  server.on("connection", (socket) => {
    const address = socket.remoteAddress ?? "";
    if (proxies.has(address)) return;
    const release = reserve(address);
    if (release === undefined) socket.destroy();
    else socket.once("close", release);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const [reason, words] = REASONS[error.code ?? ""] ?? [error.code, error.message];
      const message = `Can't listen on ${bracketed(host)}:${port}: ${words}.`;
      reject(new CemError("ADDRESS_UNUSABLE", message, { details: { host, port, reason }, cause: error }));
    });
    server.listen({ host, port }, resolve);
  });
  return { server, port: (server.address() as AddressInfo).port };
}
