import { Agent, request as sendRequest } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { CLIENT_ADDRESS_HEADER } from "./http-forwarder.ts";
import { listenForClients } from "./http-listen.ts";
import { sendText } from "./http-routes.ts";
import { READINESS_TIMEOUT_MS } from "./limits.ts";
import { TrustedProxies } from "./trusted-proxies.ts";

/** Headers that belong to one connection, and that of the client's address. */
const DROPPED_HEADERS: ReadonlySet<string> = new Set([
  "connection",
  "expect",
  "keep-alive",
  "proxy-connection",
  "upgrade",
  CLIENT_ADDRESS_HEADER,
]);

/**
 * Listens for clients and forwards their requests to a server in another thread. It answers `/healthz` itself, and
 * `/readyz` where the server does not answer in time, so that neither waits for what the server does.
 */
export class ForwardingFront {
  readonly #agent = new Agent({ keepAlive: true, maxFreeSockets: 64 });
  #listening: Server | undefined;
  #socketPath: string | undefined;

  /** Forwards to another socket from now on; `undefined`: answers 503 until there is one. */
  forwardTo(socketPath: string | undefined): void {
    this.#socketPath = socketPath;
  }

  /**
   * Listens, or goes on listening where it does already.
   *
   * @returns the port.
   * @throws CemError `ADDRESS_UNUSABLE`
   */
  async listen(host: string, port: number, trustedProxies: readonly string[]): Promise<number> {
    const address = this.#listening?.address();
    if (typeof address === "object" && address !== null) return address.port;
    const { server, port: bound } = await listenForClients(host, port, new TrustedProxies(trustedProxies));
    server.on("request", (request, response) => this.#handle(request, response));
    this.#listening = server;
    return bound;
  }

  /** Takes no new clients. Requests under way go on. */
  stop(): void {
    this.#listening?.close();
  }

  /** Ends all connections. */
  async close(): Promise<void> {
    const listening = this.#listening;
    this.#listening = undefined;
    const closed = new Promise<void>((resolve) => {
      if (listening === undefined) resolve();
      // It calls back with an error where it was stopped and all of its connections are closed.
      else listening.close(() => resolve());
    });
    listening?.closeAllConnections();
    await closed;
    this.#agent.destroy();
  }

  #handle(request: IncomingMessage, response: ServerResponse): void {
    const [path] = (request.url ?? "/").split("?", 1);
    if (path === "/healthz") {
      sendText(response, 200, "ok");
      return;
    }
    this.#forward(request, response, path === "/readyz" ? READINESS_TIMEOUT_MS : undefined);
  }

  #forward(request: IncomingMessage, response: ServerResponse, timeoutMs: number | undefined): void {
    const { method, url: path, rawHeaders } = request;
    const headers = [...kept(rawHeaders), CLIENT_ADDRESS_HEADER, request.socket.remoteAddress ?? ""];
    const refuse = (reason: string): void => {
      if (response.headersSent) response.destroy();
      else sendText(response, 503, reason);
    };
    if (this.#socketPath === undefined) {
      refuse("The server is starting. Try again in a moment.");
      return;
    }
    const options = { socketPath: this.#socketPath, agent: this.#agent, method, path, headers };
    const forwarded = sendRequest(options, (answer) => {
      response.writeHead(answer.statusCode ?? 502, kept(answer.rawHeaders));
      // Streams are open before their first event.
      response.flushHeaders();
      answer.pipe(response);
      answer.once("error", () => response.destroy());
    });
    if (timeoutMs !== undefined) {
      const onTimeout = (): void => {
        refuse(`The server has not answered for ${timeoutMs / 1_000} seconds.`);
        forwarded.destroy();
      };
      const timer = setTimeout(onTimeout, timeoutMs);
      forwarded.once("close", () => clearTimeout(timer));
    }
    forwarded.once("error", () =>
      refuse("The server stopped while it worked on this. Try again in a moment."),
    );
    response.once("close", () => forwarded.destroy());
    request.pipe(forwarded);
  }
}

function kept(rawHeaders: readonly string[]): string[] {
  return rawHeaders.filter((_, at) => !DROPPED_HEADERS.has((rawHeaders[at - (at % 2)] ?? "").toLowerCase()));
}
