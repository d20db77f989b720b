import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createMcpConnections } from "../index.ts";

let end: "cleanly" | "by the socket" = "cleanly";
let calls = 0;
const server = createServer((request, response) => void answer(request, response));

async function answer(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
  const text = (await request.toArray()).join("");
  if (request.method !== "POST") return response.writeHead(405).end();
  const { id, method } = JSON.parse(text) as { id?: number; method: string };
  if (id === undefined) return response.writeHead(202).end();
  if (method === "tools/call") {
    calls += 1;
    response.writeHead(200, { "content-type": "text/event-stream" }).write(": working\n\n");
    if (end === "cleanly") return response.end();
    return setTimeout(() => request.socket.destroy(), 20);
  }
  const capabilities = { tools: {} };
  const serverInfo = { name: "x", version: "1" };
  const results: Record<string, object> = {
    initialize: { protocolVersion: "2025-11-25", capabilities, serverInfo },
    "tools/list": { tools: [{ name: "a", inputSchema: { type: "object" } }] },
  };
  response.writeHead(200, { "content-type": "application/json" });
  return response.end(JSON.stringify({ jsonrpc: "2.0", id, result: results[method] }));
}

beforeAll(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)));
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

it.each(["cleanly", "by the socket"] as const)(
  "a call fails at once when the stream of its answer ends %s",
  async (way) => {
    end = way;
    calls = 0;
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
    const transport = { kind: "http", url } as const;
    const connections = createMcpConnections({ servers: [{ name: "cut", protocol: "legacy", transport }] });
    const call = connections.callTool("cut", "a", {}, { signal: AbortSignal.timeout(30_000) });
    await expect(call).rejects.toMatchObject({
      code: "SERVER_DOWN",
      message: expect.stringMatching(/its answer broke off. The call may have been executed/),
    });
    expect(calls).toBe(1);
    await connections.close();
  },
);
