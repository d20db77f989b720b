import type { McpTransportProvider } from "@cem/core";
import { InMemoryTransport, McpServer } from "@modelcontextprotocol/server";
import { describe, expect, it, onTestFinished } from "vitest";
import { connect, odd } from "../fixtures/servers.ts";
import { readToolDefinitions } from "./connection/tool-definitions.ts";
import { fetchRawList } from "./connection/tool-list.ts";

const signal = new AbortController().signal;

describe.concurrent("listTools", () => {
  it("reads all pages", async () => {
    await using connections = connect([odd("many")]);
    const { tools, cut } = await connections.listTools("odd");
    expect(tools).toHaveLength(2_000);
    expect(tools.at(-1)?.name).toBe("tool_1999");
    expect(cut).toBeUndefined();
  });

  it("stops at a list without end", async () => {
    await using connections = connect([odd("endless")]);
    const { tools, cut } = await connections.listTools("odd");
    expect(tools).toHaveLength(1_000);
    expect(cut).toBe("it has more than 1000 pages");
  });

  it("stops at cursors without end", async () => {
    await using connections = connect([odd("long-cursors")]);
    expect(await connections.listTools("odd")).toMatchObject({ cut: "it is longer than 33554432 bytes" });
  });

  it("stops at a list that goes in a circle", async () => {
    await using connections = connect([odd("circle")]);
    expect(await connections.listTools("odd")).toMatchObject({ cut: "its pages repeat" });
  });

  it("says that the server sent no list", async () => {
    await using connections = connect([odd("no-list")]);
    expect(await connections.listTools("odd")).toMatchObject({ tools: [], cut: "the server sent no list" });
    await connections.untilLogged("The list of tools is not complete: the server sent no list.");
  });

  it("loses no tool for the definition of another", async () => {
    await using connections = connect([odd("bad-schemas")]);
    const { tools, leftOut } = await connections.listTools("odd");
    expect(Object.fromEntries(tools.map(({ name, unvalidated }) => [name, unvalidated]))).toEqual({
      echo: undefined,
      null_schema: "the server gave no inputSchema",
      no_schema: "the server gave no inputSchema",
      text_schema: "its inputSchema is a string, not an object",
      list_type: 'its inputSchema asks for "array", but arguments are always an object',
      bad_pattern: undefined,
      bad_reference: undefined,
      bad_type: undefined,
      deep: undefined,
    });
    expect(leftOut).toEqual([
      { name: "background", reason: "it only runs as a task, which is not supported" },
      { name: "echo", reason: "another tool has this name" },
      { name: "#12", reason: "it has no name" },
      { name: "#13", reason: "the definition is not an object" },
      { name: "#14", reason: "the definition is not an object" },
      { name: `${"x".repeat(40)}…`, reason: "its name is longer than 256 characters" },
    ]);
  });

  it("keeps the definition as the server sent it", async () => {
    await using connections = connect([odd("plain")]);
    const { tools } = await connections.listTools("odd");
    expect(tools[0]?.definition).toEqual({
      name: "echo",
      description: "Says it back.",
      inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    });
  });

  it("asks again only after the server said that its tools changed", async () => {
    const changed: string[] = [];
    const seen = Promise.withResolvers<void>();
    await using connections = connect([odd("plain")], {
      onToolsListed(server) {
        changed.push(server);
        seen.resolve();
      },
    });
    const first = await connections.listTools("odd");
    expect(await connections.listTools("odd")).toBe(first);
    await connections.callTool("odd", "change", {}, { signal });
    await seen.promise;
    expect(changed).toEqual(["odd"]);
    expect((await connections.listTools("odd")).tools[0]?.description).toBe("Says it back. Changed 1 times.");
  });
});

describe("a server that says without end that its tools changed", () => {
  it("is asked again meanwhile", async () => {
    // In this process, so that no pause comes between two of its messages.
    const [client, served] = InMemoryTransport.createLinkedPair();
    const server = new McpServer({ name: "restless", version: "1" });
    server.registerTool("rest", {}, () => ({ content: [] }));
    await server.connect(served);
    const provider = { connect: async () => client } as unknown as McpTransportProvider;
    const seen = Promise.withResolvers<string>();
    await using connections = connect(
      [{ name: "restless", transport: { kind: "custom", url: "custom:restless", provider } }],
      { onToolsListed: seen.resolve },
    );
    await connections.listTools("restless");
    const telling = setInterval(() => server.sendToolListChanged(), 5);
    onTestFinished(() => clearInterval(telling));
    expect(await seen.promise).toBe("restless");
  });
});

describe("readToolDefinitions", () => {
  const withHeader = (
    declaration: unknown,
    place = "properties",
  ): Parameters<typeof readToolDefinitions>[0] => [
    { name: "t", inputSchema: { type: "object", [place]: { region: declaration } } as never },
  ];

  it("leaves out tools whose header declarations are wrong, where headers are used", () => {
    const reasons = [
      withHeader({ type: "string", "x-mcp-header": "Region" }),
      withHeader({ type: "string", "x-mcp-header": "two words" }),
      withHeader({ type: "number", "x-mcp-header": "Region" }),
      withHeader({ type: "string", "x-mcp-header": "Region" }, "$defs"),
      withHeader({ type: "object", properties: { a: { type: "integer", "x-mcp-header": "A" } } }),
    ].map((items) => readToolDefinitions(items, true).leftOut[0]?.reason);
    expect(reasons).toEqual([
      undefined,
      "it declares a header without a valid name",
      'it declares the header "Region" for a value that is not a string, integer or boolean',
      'it declares a header under "$defs", where none may be',
      undefined,
    ]);
    expect(readToolDefinitions(withHeader({ "x-mcp-header": "" })).leftOut).toEqual([]);
  });

  it("leaves out a tool that takes a reserved name", () => {
    const { leftOut } = readToolDefinitions([{ name: "mcp:resources/read", inputSchema: {} }]);
    expect(leftOut[0]?.reason).toBe("its name is reserved for requests about resources and prompts");
  });

  it("survives a definition that is nested deeper than the stack", () => {
    const deep = JSON.parse(`${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`) as never;
    const { tools, leftOut } = readToolDefinitions([{ name: "deep", inputSchema: deep }, { name: "fine" }]);
    expect(tools.map(({ name }) => name)).toEqual(["fine"]);
    expect(leftOut).toHaveLength(1);
  });

  it("leaves out a definition that is far too large", () => {
    const { leftOut } = readToolDefinitions([{ name: "big", description: "x".repeat(2_000_000) }]);
    expect(leftOut[0]?.reason).toMatch(/^its definition has \d+ bytes, more than 1048576$/);
  });
});

describe("fetchRawList", () => {
  it("holds its bounds on items and bytes", async () => {
    const items = Array.from({ length: 50 }, (_, index) => ({ index }));
    const client = { request: async () => ({ "cem.rawItems": items }) } as never;
    const bounds = { maxPages: 1, maxItems: 10, maxBytes: 1_000_000 };
    expect(await fetchRawList(client, "tools/list", { signal, bounds })).toMatchObject({
      items: items.slice(0, 10),
      cut: "it has more than 10 items",
    });
    const small = { ...bounds, maxItems: 100, maxBytes: 100 };
    expect((await fetchRawList(client, "tools/list", { signal, bounds: small })).cut).toBe(
      "it is longer than 100 bytes",
    );
  });
});
