import http from "node:http";
import net from "node:net";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";

const DEFAULT_PORTS: Readonly<Record<string, number>> = { "http:": 80, "https:": 443 };

/**
 * Starts a proxy on the loopback interface: a browser's only way to the network, which allows only requests to allowed
 * origins. Unlike request interception in the browser, it covers redirects, sockets, workers and everything else that a
 * page may use.
 */
export async function startOriginProxy(origins: readonly string[]) {
  const allowed = new Set(origins.map((origin) => hostOf(new URL(origin))));
  const sockets = new Set<Duplex>();
  const mayOpen = (url: URL | null): url is URL => url !== null && allowed.has(hostOf(url));
  const server = http.createServer((request, response) => {
    const url = URL.parse(request.url ?? "");
    if (url?.protocol !== "http:" || !mayOpen(url)) {
      response.writeHead(403).end();
      return;
    }
    forward(url, request, response);
  });
  server.on("connect", (request, client: Duplex, head: Buffer) => {
    const url = URL.parse(`http://${request.url ?? ""}`);
    // The default port of the scheme is left out of a URL.
    if (!mayOpen(url)) {
      client.end("HTTP/1.1 403 Forbidden\r\n\r\n");
      return;
    }
    tunnel(url, client, head, sockets);
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket)).on("error", () => socket.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    address: `http://127.0.0.1:${port}`,
    close(): void {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** `example.com:443`. */
function hostOf(url: URL): string {
  return `${url.hostname}:${url.port === "" ? DEFAULT_PORTS[url.protocol] : url.port}`;
}

function forward(url: URL, request: http.IncomingMessage, response: http.ServerResponse): void {
  const { "proxy-connection": _, ...headers } = request.headers;
  const onward = http.request(url, { method: request.method ?? "GET", headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
    answer.pipe(response);
  });
  onward.on("error", () => {
    if (response.headersSent) response.destroy();
    else response.writeHead(502).end();
  });
  response.on("close", () => onward.destroy());
  request.pipe(onward);
}

function tunnel(url: URL, client: Duplex, head: Buffer, sockets: Set<Duplex>): void {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const upstream = net.connect(Number(url.port === "" ? DEFAULT_PORTS["http:"] : url.port), host, () => {
    client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
    upstream.write(head);
    upstream.pipe(client).pipe(upstream);
  });
  sockets.add(upstream);
  const end = (): void => {
    sockets.delete(upstream);
    upstream.destroy();
    client.destroy();
  };
  upstream.on("error", end).on("close", end);
  client.on("error", end).on("close", end);
}
