import { createServer, request as sendRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** A proxy that gives each request to the next of several servers. */
export async function roundRobin(urls: readonly string[]): Promise<{ url: string; taken: () => number[] }> {
  const taken = urls.map(() => 0);
  let next = 0;
  const proxy = createServer((request, response) => {
    const at = next++ % urls.length;
    taken[at] = (taken[at] ?? 0) + 1;
    const target = new URL(request.url ?? "/", urls[at]);
    const headers = { ...request.headers, host: target.host };
    const sent = sendRequest(target, { method: request.method, headers, agent: false }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      response.flushHeaders();
      answer.pipe(response);
      answer.once("error", () => response.destroy());
    });
    sent.once("error", () => (response.headersSent ? response.destroy() : response.writeHead(502).end()));
    response.once("close", () => sent.destroy());
    request.pipe(sent);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    const closed = new Promise((resolve) => proxy.close(resolve));
    proxy.closeAllConnections();
    await closed;
  });
  const { port } = proxy.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/mcp`, taken: () => taken };
}
