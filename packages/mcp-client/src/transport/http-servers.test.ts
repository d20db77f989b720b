import { describe, expect, it, onTestFinished } from "vitest";
import { serveByHand, stream } from "../../fixtures/http-by-hand.ts";
import type { Exchange } from "../../fixtures/http-by-hand.ts";
import { connect } from "../../fixtures/servers.ts";
import type { TestConnections } from "../../fixtures/servers.ts";
import type { McpServerSettings } from "../settings/server-settings.ts";

const signal = new AbortController().signal;

/** Connects to a server over HTTP that answers some requests as the function does. */
async function connectTo(
  answer: (exchange: Exchange) => boolean,
  more: Partial<McpServerSettings> = {},
): Promise<TestConnections> {
  const server = await serveByHand(answer);
  onTestFinished(() => server.close());
  const connections = connect([{ ...server.settings, ...more }]);
  onTestFinished(() => connections.close());
  return connections;
}

const call = (connections: TestConnections): Promise<unknown> =>
  connections.callTool("hand", "a", {}, { signal }).then(({ content }) => content);
const WELL = [{ type: "text", text: "well" }];

describe("a server over HTTP that sends too much", () => {
  it("has its requests answered, some at once", async () => {
    const REQUESTS = 200;
    let [open, most, answered] = [0, 0, 0];
    let asking: Exchange | undefined;
    const connections = await connectTo((exchange) => {
      const { message, response } = exchange;
      if (message.method === "tools/call") {
        asking = exchange;
        stream(
          exchange,
          Array.from({ length: REQUESTS }, (_, index) => ({ id: `p${index}`, method: "ping" })),
        );
        return true;
      }
      if (message.method !== undefined || message.id === undefined) return false;
      most = Math.max(most, ++open);
      setTimeout(() => {
        open -= 1;
        response.writeHead(202).end();
        if (++answered < REQUESTS || asking === undefined) return;
        stream(asking, [{ id: asking.message.id, result: { content: WELL } }]);
        asking.response.end();
      }, 50);
      return true;
    });
    expect(await call(connections)).toEqual(WELL);
    expect(answered).toBe(REQUESTS);
    expect(most).toBeLessThanOrEqual(32);
  });

  it("is read more slowly, which is said once", async () => {
    const notice = { method: "notifications/message", params: { level: "info", data: "x" } };
    const notices = Array.from({ length: 500 }, () => notice);
    const connections = await connectTo((exchange) => {
      const { request, response } = exchange;
      if (request.method !== "GET") return false;
      const write = (): void => {
        do stream(exchange, notices);
        while (!response.writableNeedDrain && !response.destroyed);
        response.once("drain", write);
      };
      write();
      return true;
    });
    expect(await call(connections)).toEqual(WELL);
    await connections.untilLogged("It sends more than 1000 messages a second");
    expect(await call(connections)).toEqual(WELL);
    const warnings = connections.logged.filter(({ message }) => message.startsWith("It sends more than"));
    expect(warnings).toHaveLength(1);
  });

  it("has its stream opened again no more often than twice a second, whatever it asks for", async () => {
    const opened: number[] = [];
    const third = Promise.withResolvers<void>();
    const connections = await connectTo(({ request, response }) => {
      if (request.method !== "GET") return false;
      if (opened.push(performance.now()) === 3) third.resolve();
      response.writeHead(200, { "content-type": "text/event-stream" }).end("id: 1\nretry: 0\ndata: \n\n");
      return true;
    });
    await call(connections);
    await third.promise;
    expect((opened[2] ?? 0) - (opened[0] ?? 0)).toBeGreaterThan(900);
  });

  it("has its stream opened again more and more seldom if it ends at once with nothing", async () => {
    const opened: number[] = [];
    const third = Promise.withResolvers<void>();
    const connections = await connectTo(({ request, response }) => {
      if (request.method !== "GET") return false;
      if (opened.push(performance.now()) === 3) third.resolve();
      response.writeHead(200, { "content-type": "text/event-stream" }).end("retry: 0\n\n");
      return true;
    });
    await call(connections);
    await third.promise;
    expect((opened[2] ?? 0) - (opened[1] ?? 0)).toBeGreaterThan(1_400);
  });
});

describe("a call that a server over HTTP refuses", () => {
  it.each([
    [400, 0, "argument session_name is missing", 1],
    [404, 0, "There is no such record.", 1],
    [404, 0, "Payment session expired", 1],
    [400, null, "No valid session ID provided", 2],
    [404, null, "Session not found", 2],
    [400, null, "Nonsense", 1],
  ])("with status %i, id %s and %j is sent as often as it can't have been executed", async (...of) => {
    const [status, id, message, times] = of;
    let calls = 0;
    const connections = await connectTo((exchange) => {
      if (exchange.message.method !== "tools/call") return false;
      calls += 1;
      const error = { code: -32_000, message };
      exchange.response.writeHead(status, { "content-type": "application/json" });
      const body = { jsonrpc: "2.0", id: id ?? exchange.message.id, error };
      exchange.response.end(JSON.stringify(id === null ? { ...body, id } : body));
      return true;
    });
    await expect(call(connections)).rejects.toMatchObject({
      code: "PROTOCOL_ERROR",
      message: expect.stringContaining(`"hand" answered with HTTP status ${status}`) as string,
    });
    expect(calls).toBe(times);
  });
});

const JSON_TYPE = { "content-type": "application/json" };

it.each([
  ["text/html", { "content-type": "text/html" }, "<p>Well</p>"],
  ["it has no content type", {}, "{}"],
  ["it is no JSON", JSON_TYPE, '{"jsonrpc":"2.0",'],
  ["it is no JSON-RPC", JSON_TYPE, '""'],
  ["its compression is broken", { ...JSON_TYPE, "content-encoding": "gzip" }, "{}"],
])("a call whose answer can't be read may have been executed: %s", async (why, headers, body) => {
  const connections = await connectTo(({ message, response }) => {
    if (message.method !== "tools/call") return false;
    response.writeHead(200, headers).end(body);
    return true;
  });
  await expect(call(connections)).rejects.toMatchObject({
    code: "PROTOCOL_ERROR",
    message: `Server "hand" answered with something that is not a message (${why}). The call may have been executed: see whether it did its work before you repeat it.`,
  });
});

it("a byte order mark before an answer is skipped", async () => {
  const connections = await connectTo(({ message: { id, method }, response }) => {
    if (method !== "tools/call") return false;
    const answer = JSON.stringify({ jsonrpc: "2.0", id, result: { content: WELL } });
    response.writeHead(200, JSON_TYPE).end(`\uFEFF${answer}`);
    return true;
  });
  expect(await call(connections)).toEqual(WELL);
});

it("a server that is asked too often is quoted on how long to wait", async () => {
  const connections = await connectTo(({ message, response }) => {
    if (message.method !== "tools/call") return false;
    response.writeHead(429, { "retry-after": "7" }).end("Slow down.");
    return true;
  });
  await expect(call(connections)).rejects.toMatchObject({
    code: "SERVER_BUSY",
    message:
      'Server "hand" answered with HTTP status 429 Too Many Requests (Retry-After: 7): Error POSTing to endpoint: Slow down.',
  });
});

it("a server that refuses connections for now is busy, not broken", async () => {
  const connections = await connectTo(({ response }) => {
    response.writeHead(429, { "retry-after": "7" }).end("Slow down.");
    return true;
  });
  await expect(call(connections)).rejects.toMatchObject({
    code: "SERVER_BUSY",
    message: expect.stringContaining("(Retry-After: 7)") as string,
  });
});

describe("a server of the older HTTP+SSE transport", () => {
  it.each([404, 415, 422, 501])("is found behind status %d, and its own fault is told", async (status) => {
    const connections = await connectTo(({ request, response }) => {
      if (request.method !== "GET") response.writeHead(status).end("Cannot POST");
      else
        response
          .writeHead(200, { "content-type": "text/event-stream" })
          .write("event: endpoint\ndata: http://other.example/messages\n\n");
      return true;
    });
    await expect(call(connections)).rejects.toThrow(
      "Endpoint origin does not match connection origin: http://other.example",
    );
  });

  it("is not assumed where the address answers neither way", async () => {
    const connections = await connectTo(({ request, response }) => {
      response.writeHead(request.method === "GET" ? 406 : 422).end("no");
      return true;
    });
    await expect(call(connections)).rejects.toThrow('Server "hand" answered with HTTP status 422');
  });
});

it.each(["a fault", "a page", "nothing"])(
  "an older server that answers the probe for its protocol with %s is connected to",
  async (what) => {
    const connections = await connectTo(
      ({ message, response }) => {
        if (message.method !== "server/discover") return false;
        if (what === "a fault") response.writeHead(500).end("oops");
        if (what === "a page") response.writeHead(200, { "content-type": "text/html" }).end("<html>");
        return true;
      },
      { connectTimeoutMs: 4_000 },
    );
    expect(await call(connections)).toEqual(WELL);
    expect(connections.status()).toMatchObject([{ protocol: "2025-11-25" }]);
  },
);
