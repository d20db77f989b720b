import { fileURLToPath } from "node:url";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { connect, reference } from "../fixtures/servers.ts";
import { serve, startEverything } from "../fixtures/start-http.ts";
import type { Running } from "../fixtures/start-http.ts";
import { createTwoEraServer } from "../fixtures/two-era-server.ts";
import type { Sleep } from "../fixtures/two-era-server.ts";
import { createMcpInvoker } from "../fixtures/invoker.ts";
import type { McpServerSettings } from "./settings/server-settings.ts";

const signal = new AbortController().signal;
const http = (port: number, more: Partial<McpServerSettings> = {}, path = "/mcp"): McpServerSettings => ({
  name: "remote",
  transport: { kind: "http", url: `http://127.0.0.1:${port}${path}` },
  ...more,
});

describe("reference servers over stdio", () => {
  it.each(["server-everything", "server-memory", "server-sequential-thinking"])(
    "talks to %s",
    async (name) => {
      await using connections = connect([reference(name)]);
      const [status] = await connections.check();
      expect(status).toMatchObject({
        state: "ready",
        transport: "stdio",
        protocol: "2025-11-25",
        sharing: "session",
      });
      expect(status?.toolCount).toBeGreaterThan(0);
      expect(status?.latencyMs).toBeGreaterThan(0);
    },
  );

  it("reads a folder through server-filesystem", async () => {
    const folder = fileURLToPath(new URL("../fixtures", import.meta.url));
    await using connections = connect([reference("server-filesystem", folder)]);
    const file = `${folder}/servers.ts`;
    const result = await connections.callTool("filesystem", "read_text_file", { path: file }, { signal });
    expect(JSON.stringify(result.content)).toContain("Connections that are closed when the test ends");
  });

  it("reach the user from server-everything", async () => {
    await using connections = connect([reference("server-everything")], {
      elicit: async () => ({ action: "accept", content: { name: "Ada", check: true } }),
    });
    const call = { server: "everything", tool: "trigger-elicitation-request", args: {} };
    const result = await createMcpInvoker(connections).invoke(call, { signal });
    expect(JSON.stringify(result)).toContain("Ada");
  });
});

describe("server-everything over Streamable HTTP", () => {
  let server: Running;
  beforeAll(async () => {
    server = await startEverything("streamableHttp");
  });
  afterAll(() => server.close());

  it("is listed and called, with progress", async () => {
    await using connections = connect([http(server.port)]);
    expect(await connections.check()).toMatchObject([
      { state: "ready", transport: "http", protocol: "2025-11-25" },
    ]);
    const seen: number[] = [];
    const result = await connections.callTool(
      "remote",
      "trigger-long-running-operation",
      { duration: 0.3, steps: 3 },
      { signal, onProgress: ({ progress }) => seen.push(progress) },
    );
    expect(JSON.stringify(result.content)).toContain("Long running operation completed");
    expect(seen).toEqual([1, 2, 3]);
  });

  it("is connected anew when it lost the session", async () => {
    await using connections = connect([http(server.port)]);
    await connections.callTool("remote", "echo", { message: "a" }, { signal });
    await server.close();
    server = await startEverything("streamableHttp", server.port);
    const result = await connections.callTool("remote", "echo", { message: "b" }, { signal });
    expect(result.content).toEqual([{ type: "text", text: "Echo: b" }]);
  });
});

describe("server-everything over SSE", () => {
  let server: Running;
  beforeAll(async () => {
    server = await startEverything("sse");
  });
  afterAll(() => server.close());

  it("is spoken to when it is asked for", async () => {
    const url = `http://127.0.0.1:${server.port}/sse`;
    await using connections = connect([{ name: "remote", transport: { kind: "sse", url } }]);
    expect(await connections.check()).toMatchObject([{ state: "ready", transport: "sse" }]);
    const result = await connections.callTool("remote", "echo", { message: "a" }, { signal });
    expect(result.content).toEqual([{ type: "text", text: "Echo: a" }]);
  });

  it("is connected anew when it was started again", async () => {
    const url = `http://127.0.0.1:${server.port}/sse`;
    await using connections = connect([{ name: "remote", transport: { kind: "sse", url } }]);
    await connections.callTool("remote", "echo", { message: "a" }, { signal });
    await server.close();
    server = await startEverything("sse", server.port);
    const result = await connections.callTool("remote", "echo", { message: "b" }, { signal });
    expect(result.content).toEqual([{ type: "text", text: "Echo: b" }]);
  });

  it("is found out when only the address was given", async () => {
    await using connections = connect([http(server.port, {}, "/sse")]);
    expect(await connections.check()).toMatchObject([{ state: "ready", transport: "sse" }]);
  });
});

describe("a server of the current generation over HTTP", () => {
  let server: Running;
  let handler: ReturnType<typeof createMcpHandler>;
  const seenHeaders: Record<string, unknown>[] = [];
  let answer: number | undefined;
  let sleep: Sleep;
  beforeAll(async () => {
    handler = createMcpHandler(() => createTwoEraServer((ms, abort) => sleep(ms, abort)));
    const toNode = toNodeHandler(handler);
    server = await serve((request, response) => {
      seenHeaders.push(request.headers);
      if (answer === undefined) return void toNode(request as Parameters<typeof toNode>[0], response);
      response.writeHead(answer).end(`refused ${request.headers["x-api-key"] as string}`);
    });
  });
  afterAll(async () => {
    await handler.close();
    await server.close();
  });

  it.each([
    [{}, "2026-07-28"],
    [{ protocol: "legacy" }, "2025-11-25"],
  ] as const)("is spoken to as it can: %o", async (more, protocol) => {
    await using connections = connect([http(server.port, more)]);
    const result = await connections.callTool("remote", "add", { a: 2, b: 3 }, { signal });
    expect(result.structuredContent).toEqual({ sum: 5 });
    expect((await connections.listTools("remote")).protocol).toBe(protocol);
  });

  it.each(["2026-07-28", "legacy"] as const)(
    "has its results checked in one way, whatever it speaks: %s",
    async (protocol) => {
      await using connections = connect([http(server.port, { protocol })]);
      const call = { server: "remote", tool: "add_wrongly", args: { a: 2, b: 3 } };
      expect(await createMcpInvoker(connections).invoke(call, { signal })).toMatchObject({
        ok: false,
        error: { code: "RESULT_INVALID", details: { place: "/sum", structuredContent: { sum: "5" } } },
      });
    },
  );

  it("sees a cancellation", async () => {
    await using connections = connect([http(server.port)]);
    const controller = new AbortController();
    const cancelled = new Promise<void>((resolve) => {
      sleep = async (_ms, abort) => {
        abort.addEventListener("abort", () => resolve());
        controller.abort();
        await cancelled;
      };
    });
    const call = connections.callTool("remote", "sleep", { ms: 0 }, { signal: controller.signal });
    await expect(call).rejects.toMatchObject({ code: "ABORTED" });
    await cancelled;
  });

  it("tells when its tools changed", async () => {
    const { promise: changed, resolve } = Promise.withResolvers<string>();
    await using connections = connect([http(server.port)], { onToolsListed: resolve });
    await connections.listTools("remote");
    handler.notify.toolsChanged();
    expect(await changed).toBe("remote");
  });

  it("gets the configured headers, which appear in no error", async () => {
    const headers = { "X-Api-Key": "key-12345678" };
    const transport = {
      kind: "http",
      url: `http://127.0.0.1:${server.port}/mcp?token=query-secret`,
      headers,
    } as const;
    await using connections = connect([{ name: "remote", transport }]);
    await connections.listTools("remote");
    expect(seenHeaders.at(-1)).toMatchObject({ "x-api-key": "key-12345678" });
    answer = 500;
    try {
      const error = await connections
        .listTools("remote", { refresh: true })
        .catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: "SERVER_DOWN" });
      const told = JSON.stringify([
        error,
        connections.status(),
        connections.logged,
        (error as Error).message,
      ]);
      expect(told).toContain("refused [redacted]");
      expect(told).not.toContain("key-12345678");
      expect(told).not.toContain("query-secret");
    } finally {
      answer = undefined;
    }
  });

  it("does not lose other calls when one finds it gone", async () => {
    await using connections = connect([http(server.port)]);
    await connections.listTools("remote");
    const [started, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    sleep = async () => {
      started.resolve();
      await released.promise;
    };
    const slow = connections.callTool("remote", "sleep", { ms: 0 }, { signal });
    await started.promise;
    answer = 503;
    const failed = await connections
      .callTool("remote", "add", { a: 1, b: 1 }, { signal })
      .catch((error: unknown) => error);
    answer = undefined;
    expect(failed).toMatchObject({ code: "SERVER_DOWN" });
    expect(connections.status()).toMatchObject([{ state: "down", lastError: { code: "SERVER_DOWN" } }]);
    released.resolve();
    expect((await slow).content).toEqual([{ type: "text", text: "slept" }]);
    expect(connections.status()).toMatchObject([{ state: "ready" }]);
  });

  it("says that a sign-in is needed", async () => {
    answer = 401;
    try {
      await using connections = connect([http(server.port)]);
      await expect(connections.listTools("remote")).rejects.toMatchObject({ code: "AUTH_REQUIRED" });
      expect(connections.status()).toMatchObject([{ state: "auth-required" }]);
    } finally {
      answer = undefined;
    }
  });

  it("gives its configured headers to no other origin", async () => {
    const stolen: Record<string, unknown>[] = [];
    const thief = await serve((request, response) => {
      stolen.push(request.headers);
      response.writeHead(404).end();
    });
    onTestFinished(() => thief.close());
    const redirector = await serve((_request, response) => {
      response.writeHead(307, { location: `http://127.0.0.1:${thief.port}/mcp` }).end();
    });
    onTestFinished(() => redirector.close());
    const headers = { authorization: "Bearer abcdefgh" };
    const url = `http://127.0.0.1:${redirector.port}/mcp`;
    await using connections = connect([{ name: "remote", transport: { kind: "http", url, headers } }]);
    await expect(connections.listTools("remote")).rejects.toMatchObject({ code: "PROTOCOL_ERROR" });
    expect(stolen).toEqual([]);
  });
});

describe("a server that can't be reached", () => {
  it("is down, with the reason", async () => {
    const closed = await serve(() => {});
    await closed.close();
    await using connections = connect([http(closed.port)]);
    await expect(connections.listTools("remote")).rejects.toMatchObject({
      code: "SERVER_DOWN",
      message: expect.stringContaining("ECONNREFUSED") as string,
    });
  });

  it("is down when it takes the connection and never answers", async () => {
    const silent = await serve(() => {});
    onTestFinished(() => silent.close());
    await using connections = connect([http(silent.port, { connectTimeoutMs: 100 })]);
    await expect(connections.listTools("remote")).rejects.toThrow("did not answer within 100 ms");
  });
});
