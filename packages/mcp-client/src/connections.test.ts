import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { CemError } from "@cem/core";
import type { JSONRPCRequest } from "@modelcontextprotocol/client";
import { assert, describe, expect, it, onTestFinished } from "vitest";
import { connect, odd, twoEra } from "../fixtures/servers.ts";
import { serve } from "../fixtures/start-http.ts";

const signal = new AbortController().signal;

describe.concurrent("createMcpConnections", () => {
  it("starts nothing before it is needed", async () => {
    await using connections = connect([odd("plain")]);
    expect(connections.status()).toEqual([
      { name: "odd", state: "idle", transport: "stdio", sharing: "session" },
    ]);
  });

  it("shares one connection between callers", async () => {
    await using connections = connect([odd("plain")]);
    await Promise.all(
      Array.from({ length: 10 }, () => connections.callTool("odd", "echo", { text: "a" }, { signal })),
    );
    const [before] = connections.status();
    await connections.callTool("odd", "echo", { text: "a" }, { signal });
    expect(before?.pid).toBeTypeOf("number");
    expect(connections.status()[0]?.pid).toBe(before?.pid);
  });

  it("names the server that was probably meant", async () => {
    await using connections = connect([odd("plain", { name: "weather" })]);
    await expect(connections.listTools("wether")).rejects.toMatchObject({
      code: "SERVER_NOT_FOUND",
      message: 'There is no server "wether". Did you mean "weather"?',
    });
  });

  it("does not start a server that is switched off", async () => {
    await using connections = connect([odd("plain", { enabled: false })]);
    expect(await connections.check()).toMatchObject([{ state: "disabled" }]);
    await expect(connections.listTools("odd")).rejects.toMatchObject({ code: "SERVER_DISABLED" });
  });

  it("lets no server wait for another", async () => {
    await using connections = connect([
      odd("hang", { name: "hanging", connectTimeoutMs: 60_000 }),
      odd("plain"),
    ]);
    const hanging = connections.listTools("hanging");
    hanging.catch(() => {});
    expect((await connections.listTools("odd")).tools.length).toBeGreaterThan(0);
    expect(connections.status()).toMatchObject([{ state: "connecting" }, { state: "ready" }]);
  });
});

describe.concurrent("a server that is down", () => {
  it("is reported with how its process ended and what it said, without secrets", async () => {
    await using connections = connect([odd("crash-at-start", { secrets: ["ABCDEF-secret"] })]);
    await expect(connections.listTools("odd")).rejects.toMatchObject({
      code: "SERVER_DOWN",
      message:
        'Server "odd" is down: its process exited with code 3 after writing: fatal: no API key [redacted] given',
    });
    expect(connections.status()).toMatchObject([{ state: "down", lastError: { code: "SERVER_DOWN" } }]);
    expect(connections.logged).toContainEqual({
      server: "odd",
      level: "info",
      source: "stderr",
      message: "fatal: no API key [redacted] given",
    });
  });

  it("is not tried again before its time, unless asked", async () => {
    await using connections = connect([odd("crash-at-start")]);
    await expect(connections.listTools("odd")).rejects.toThrow("exited with code 3");
    await expect(connections.listTools("odd")).rejects.toThrow(/The next attempt is in \d+ ms/);
    expect(connections.status()[0]?.retryInMs).toBeGreaterThan(0);
    const starts = (): number => connections.logged.filter(({ source }) => source === "stderr").length;
    expect(starts()).toBe(1);
    await connections.check();
    expect(starts()).toBe(2);
  });

  it("is given up when it does not answer in time", async () => {
    await using connections = connect([odd("hang", { connectTimeoutMs: 100 })]);
    await expect(connections.listTools("odd")).rejects.toMatchObject({
      code: "SERVER_DOWN",
      message: 'Server "odd" did not answer within 100 ms.',
    });
  });

  it("is named when its command is not there", async () => {
    await using connections = connect([
      { name: "x", transport: { kind: "stdio", command: "no-such-program" } },
    ]);
    await expect(connections.listTools("x")).rejects.toThrow(
      'its command "no-such-program" can\'t be started (ENOENT)',
    );
  });

  it.each(["npx -y package", "node /somewhere/server.mjs norm"])(
    "is told of where its arguments are in the command: %s",
    async (command) => {
      await using connections = connect([{ name: "x", transport: { kind: "stdio", command } }]);
      await expect(connections.listTools("x")).rejects.toThrow(
        `its command "${command}" can't be started (ENOENT): no program has this name with its spaces. Arguments belong into args.`,
      );
    },
  );

  it("is told of with a variable that is set, but not given to it", async () => {
    const code = `console.error("CEM_TOKEN is required, CEM_OTHER is not"); process.exit(1)`;
    const needs = (name: string, env: Record<string, string> = {}) => {
      const variable = (asked: string) => (asked === "CEM_TOKEN" ? "abc" : undefined);
      const args = ["-e", code];
      const transport = { kind: "stdio" as const, command: process.execPath, args, env, variable };
      return { name, transport };
    };
    await using connections = connect([needs("without"), needs("with", { CEM_TOKEN: "abc" })]);
    await expect(connections.listTools("without")).rejects.toThrow(
      /is not \(CEM_TOKEN is set here, but a server gets only .* as CEM_TOKEN: \$\{CEM_TOKEN\}\)$/u,
    );
    await expect(connections.listTools("with")).rejects.toThrow(/CEM_OTHER is not$/u);
  });

  it("keeps its last list, and is connected again when it is used", async () => {
    await using connections = connect([odd("plain")]);
    const { tools } = await connections.listTools("odd");
    const failure = connections.callTool("odd", "crash", {}, { signal });
    await expect(failure).rejects.toMatchObject({
      code: "SERVER_DOWN",
      message:
        'Server "odd" is down: its process exited with code 7 after writing: fatal: the disk is on fire. The call may have been executed: see whether it did its work before you repeat it.',
    });
    expect(connections.status()[0]?.lastError?.message).not.toContain("may have been executed");
    expect(connections.status()).toMatchObject([{ state: "down", toolCount: tools.length }]);
    expect(connections.knownTools("odd")?.tools).toHaveLength(tools.length);
    const result = await connections.callTool("odd", "echo", { text: "back" }, { signal });
    expect(result.content).toEqual([{ type: "text", text: "back" }]);
  });
});

describe("a call that is lost over HTTP", () => {
  it.each([
    ["answered with a status of 5xx", 'Server "remote" answered with HTTP status 502 Bad Gateway: ', true],
    ["cut off", 'The connection to server "remote" failed: ', true],
    ["never sent", 'The connection to server "remote" failed: connect ECONNREFUSED', false],
  ])("says whether it may have been executed: %s", async (how, message, isDoubtful) => {
    const answer = async (request: IncomingMessage, response: ServerResponse): Promise<unknown> => {
      const { id, method, params } = JSON.parse((await text(request)) || "{}") as Partial<JSONRPCRequest>;
      if (method === "tools/call") {
        if (how === "cut off") return request.socket.destroy();
        return response.writeHead(502).end("bad gateway");
      }
      if (method !== "initialize") return response.writeHead(id === undefined ? 202 : 404).end();
      const serverInfo = { name: "remote", version: "1" };
      const result = { protocolVersion: params?.["protocolVersion"], capabilities: {}, serverInfo };
      return response
        .setHeader("content-type", "application/json")
        .end(JSON.stringify({ jsonrpc: "2.0", id, result }));
    };
    const remote = await serve((request, response) => void answer(request, response));
    onTestFinished(() => remote.close());
    const url = `http://127.0.0.1:${remote.port}/mcp`;
    await using connections = connect([
      { name: "remote", protocol: "legacy", transport: { kind: "http", url } },
    ]);
    await connections.list("remote", "prompts");
    if (how === "never sent") await remote.close();
    const failure: unknown = await connections
      .callTool("remote", "pay", {}, { signal })
      .catch((error: unknown) => error);
    assert(CemError.isInstance(failure));
    expect(failure).toMatchObject({
      code: "SERVER_DOWN",
      message: expect.stringContaining(message) as string,
    });
    expect(failure.message.includes("The call may have been executed")).toBe(isDoubtful);
  });
});

describe.concurrent("stray output of a server", () => {
  it("does not disturb it", async () => {
    await using connections = connect([odd("garbage")]);
    const result = await connections.callTool("odd", "echo", { text: "a" }, { signal });
    expect(result.content).toEqual([{ type: "text", text: "a" }]);
    expect(connections.logged.map(({ message }) => message)).toContain(
      "The server wrote a line that is not a message: Welcome to the server!",
    );
  });

  it("makes it down when there is nothing else", async () => {
    await using connections = connect([odd("only-garbage", { connectTimeoutMs: 300 })]);
    await expect(connections.listTools("odd")).rejects.toMatchObject({ code: "SERVER_DOWN" });
  });
});

describe.concurrent("both generations of the protocol", () => {
  it.each([
    [{}, [], "2025-11-25"],
    [{ protocol: "legacy" }, [], "2025-11-25"],
    [{ protocol: "2026-07-28" }, [], "2026-07-28"],
    [{}, ["modern-only"], "2026-07-28"],
  ] as const)("are spoken over stdio: %o %o", async (more, args, protocol) => {
    await using connections = connect([twoEra(more, ...args)]);
    const { structuredContent } = await connections.callTool("two-era", "add", { a: 1, b: 2 }, { signal });
    expect(structuredContent).toEqual({ sum: 3 });
    expect(await connections.listTools("two-era")).toMatchObject({
      protocol,
      server: { name: "two-era", version: "2.1.0" },
      leftOut: [],
    });
    const sharing = protocol === "2026-07-28" ? "stateless" : "session";
    expect(connections.status()).toMatchObject([{ sharing, statefulTools: [] }]);
  });
});
