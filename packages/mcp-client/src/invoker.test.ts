import type { JsonValue, ToolCall, ToolResult } from "@cem/core";
import { afterAll, describe, expect, it } from "vitest";
import { serveByHand } from "../fixtures/http-by-hand.ts";
import { memoryStore } from "../fixtures/memory-store.ts";
import { connect, odd, reference, twoEra } from "../fixtures/servers.ts";
import { SERVER_REQUESTS } from "./connection/server-request-definitions.ts";
import type { McpConnections } from "./connections.ts";
import { createMcpInvoker } from "../fixtures/invoker.ts";
import type { McpInvokerSettings } from "../fixtures/invoker.ts";

const signal = new AbortController().signal;

/** For tests that leave a server as it was. */
const [plain, odder] = [connect([odd("plain")]), connect([odd("bad-schemas")])];
afterAll(() => Promise.all([plain.close(), odder.close()]));

function caller(
  connections: McpConnections,
  server: string,
  settings: McpInvokerSettings = {},
): (tool: string, args?: unknown) => Promise<ToolResult> {
  const invoker = createMcpInvoker(connections, settings);
  return (tool, args) => invoker.invoke({ server, tool, args: args as JsonValue }, { signal });
}

describe.concurrent("createMcpInvoker", () => {
  it("calls a tool", async () => {
    expect(await caller(plain, "odd")("echo", { text: "a" })).toEqual({ ok: true, value: "a" });
  });

  it("names what is not there, and what was probably meant", async () => {
    expect(await caller(plain, "odd")("ecko")).toMatchObject({
      ok: false,
      error: { code: "TOOL_NOT_FOUND", message: 'Server "odd" has no tool "ecko". Did you mean "echo"?' },
    });
    expect(await caller(plain, "even")("echo")).toMatchObject({
      ok: false,
      error: { code: "SERVER_NOT_FOUND", message: 'There is no server "even". There are: odd.' },
    });
  });

  it("says why a tool is left out", async () => {
    expect(await caller(odder, "odd")("background")).toMatchObject({
      error: {
        message: expect.stringContaining('has no usable tool "background": it only runs as a task') as string,
      },
    });
  });

  it("calls only what is allowed", async () => {
    await using connections = connect([odd("plain")]);
    const isAllowed = ({ tool }: ToolCall): boolean | string =>
      tool === "echo" ? "the day is over" : tool !== "fail";
    const call = caller(connections, "odd", { isAllowed });
    const notAllowed = (why: string): object => ({ error: { code: "TOOL_NOT_ALLOWED", message: why } });
    expect(await call("echo", { text: "a" })).toMatchObject(
      notAllowed("odd.echo may not be called: the day is over."),
    );
    expect(await call("fail")).toMatchObject(
      notAllowed("odd.fail may not be called: it is not among the tools of this run."),
    );
    expect(await call("most_at_once")).toEqual({ ok: true, value: "0" });
    const closed = caller(connections, "odd", { isAllowed: () => false });
    expect(await closed(SERVER_REQUESTS.listResources)).toMatchObject({
      error: { code: "TOOL_NOT_ALLOWED" },
    });
  });

  it("finds tools by the names of the catalog", async () => {
    const findTool: McpInvokerSettings["findTool"] = (_server, tool) =>
      tool === "sayBack" ? { name: "echo", inputSchema: { type: "object" } } : undefined;
    const call = caller(plain, "odd", { findTool });
    expect(await call("sayBack", { text: "a" })).toEqual({ ok: true, value: "a" });
    expect(await call("echo", { text: "a" })).toMatchObject({ error: { code: "TOOL_NOT_FOUND" } });
  });

  it("refuses arguments that the schema does not allow, before the server sees them", async () => {
    const call = caller(plain, "odd");
    const invalid = (message: string, argument: string): object => ({
      ok: false,
      error: { code: "ARGUMENTS_INVALID", message, details: { server: "odd", tool: "echo", argument } },
    });
    expect(await call("echo")).toEqual(
      invalid("The arguments of odd.echo are not valid: `text` is missing.", "text"),
    );
    expect(await call("echo", { text: 1 })).toEqual(
      invalid("The arguments of odd.echo are not valid: `text` must be a string, not a number.", "text"),
    );
    expect(await call("echo", ["a"])).toEqual(
      invalid("The arguments of odd.echo must be one object, such as { name: value }.", ""),
    );
  });

  it("sends all digits of long whole numbers, and none that has lost some", async () => {
    const $defs = { Id: { anyOf: [{ type: "integer" }, { type: "null" }] } };
    const properties = { ids: { items: { $ref: "#/$defs/Id" } }, sum: { type: "number" }, text: {} };
    const tools = [{ name: "a", inputSchema: { type: "object", properties, $defs } }];
    const sent: string[] = [];
    const server = await serveByHand(({ message, text, response }) => {
      if (message.method === "tools/call") sent.push(text);
      if (message.method !== "tools/list") return false;
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ jsonrpc: "2.0", id: message.id, result: { tools } }));
      return true;
    });
    await using connections = connect([server.settings]);
    const call = caller(connections, "hand");
    const args = {
      ids: ["7205759403792793601", 5],
      sum: "-9223372036854775808",
      text: "7205759403792793601",
    };
    expect(await call("a", args)).toEqual({ ok: true, value: "well" });
    expect(await call("a", { ids: [2 ** 60 + 2 ** 10] })).toMatchObject({
      error: { code: "ARGUMENTS_INVALID", message: expect.stringContaining("`ids[0]` has more digits") },
    });
    expect(await call("a", { ids: ["12"] })).toMatchObject({ error: { code: "ARGUMENTS_INVALID" } });
    expect(await call("a", { sum: 1735689600000000000 })).toEqual({ ok: true, value: "well" });
    await server.close();
    expect(sent.map((text) => /"arguments":(\{.*?\})/.exec(text)?.[1])).toEqual([
      '{"ids":[7205759403792793601,5],"sum":-9223372036854775808,"text":"7205759403792793601"}',
      '{"sum":1735689600000000000}',
    ]);
  });

  it("calls tools with unusable schemas unchecked, and says so once", async () => {
    const reported: string[] = [];
    const call = caller(odder, "odd", {
      onUnvalidated: ({ tool, reason }) => reported.push(`${tool}: ${reason}`),
    });
    const tools = ["null_schema", "list_type", "bad_pattern", "bad_reference", "bad_type", "deep"];
    for (const tool of [...tools, ...tools]) {
      expect(await call(tool, { text: tool })).toEqual({ ok: true, value: tool });
    }
    expect(reported).toHaveLength(tools.length);
    expect(reported.join("\n")).toMatch(/bad_pattern: the pattern /);
    expect(reported.join("\n")).toMatch(
      /bad_reference: the schema can't be used: can't resolve reference https/,
    );
    expect(reported.join("\n")).toMatch(/deep: the schema is nested deeper than 64 levels/);
  });

  it("says of a result that is nested too deeply that the call may have been executed", async () => {
    await using connections = connect([odd("plain")]);
    const deep = "[".repeat(100_000) + "]".repeat(100_000);
    const line = `{"jsonrpc":"2.0","id":ID,"result":{"content":[],"structuredContent":{"a":${deep}}}}`;
    const message =
      /^Server "odd" answered with a result that is nested too deeply\. The call may have been/u;
    const call = caller(connections, "odd", { findTool: (_, name) => ({ name, inputSchema: {} }) });
    expect(await call("write", { line })).toMatchObject({
      error: { code: "PROTOCOL_ERROR", message: expect.stringMatching(message) as string },
    });
  });

  it("makes what the server says went wrong an error", async () => {
    await using connections = connect([odd("plain", { secrets: ["hidden-token"] })]);
    const call = caller(connections, "odd");
    expect(await call("fail")).toEqual({
      ok: false,
      error: {
        code: "TOOL_FAILED",
        message: "there is no such record",
        details: { server: "odd", tool: "fail" },
      },
    });
    expect(await call("refuse")).toMatchObject({
      error: {
        code: "PROTOCOL_ERROR",
        message: expect.stringContaining("answered with error -32602") as string,
      },
    });
    expect(await call("crash")).toMatchObject({ error: { code: "SERVER_DOWN" } });
  });

  it("names the pages that a server wants its user to open", async () => {
    await using connections = connect([odd("plain")]);
    const call = caller(connections, "odd");
    const said = 'Server "odd" answered with error -32042: Sign up first.';
    const url = "https://crm.example/sign-up?for=ada";
    const elicitations = [{ mode: "url", url }, { mode: "url", url: "javascript:alert(1)" }, null];
    expect(await call("ask_to_open", { elicitations })).toMatchObject({
      error: { code: "PROTOCOL_ERROR", message: `${said} (the user has to open ${url} first)` },
    });
    expect(await call("ask_to_open", { elicitations: 7 })).toMatchObject({ error: { message: said } });
  });

  it("does not show the server's secrets in errors", async () => {
    const server = odd("plain");
    await using connections = connect([
      { ...server, transport: { ...server.transport, env: { TOKEN: "very-secret-token" } } as never },
    ]);
    const result = await caller(connections, "odd")("refuse");
    expect(JSON.stringify(result)).toContain("your token is [redacted]");
  });

  it("answers a cancelled call with a result", async () => {
    await using connections = connect([odd("plain")]);
    const controller = new AbortController();
    const call = createMcpInvoker(connections).invoke(
      { server: "odd", tool: "wait", args: { ms: 60_000 } },
      { signal: controller.signal },
    );
    await connections.untilLogged("waiting");
    controller.abort();
    expect(await call).toMatchObject({ ok: false, error: { code: "ABORTED" } });
  });
});

describe.concurrent("a server that hangs", () => {
  it("does not hold a call that is cancelled", async () => {
    await using connections = connect([odd("hang")]);
    const call = { server: "odd", tool: "echo", args: {} };
    const result = await createMcpInvoker(connections).invoke(call, { signal: AbortSignal.timeout(50) });
    expect(result).toMatchObject({
      error: { code: "ABORTED", message: "The call of odd.echo was cancelled." },
    });
  });
});

describe.concurrent("results", () => {
  it("are the structured value where there is one", async () => {
    await using connections = connect([reference("server-everything")]);
    const result = await caller(connections, "everything")("get-structured-content", { location: "Chicago" });
    expect(result).toMatchObject({ ok: true, value: { conditions: expect.any(String) as string } });
  });

  it("keep everything that is not text", async () => {
    const store = memoryStore();
    expect(await caller(plain, "odd", { store })("parts")).toEqual({
      ok: true,
      value: [
        { a: 1 },
        "plain",
        { type: "image", mimeType: "image/png", size: 7, path: "/workspace/results/0-parts.png" },
        {
          type: "audio",
          mimeType: "application/octet-stream",
          size: 5,
          path: "/workspace/results/1-parts.bin",
        },
        {
          type: "resource",
          mimeType: "application/pdf",
          size: 3,
          path: "/workspace/results/2-parts.pdf",
          uri: "file:///a/../b.pdf",
        },
        { type: "resource", mimeType: "text/plain", uri: "note://1", text: "a note" },
        { type: "resource_link", uri: "note://2", name: "another" },
        { type: "hologram", depth: 3 },
      ],
    });
    expect([...store.files.values()]).toEqual([
      "image/png: picture",
      "application/octet-stream: sound",
      "application/pdf: pdf",
    ]);
  });

  it("carry small bytes themselves where there is no store", async () => {
    const inline = await caller(plain, "odd")("parts");
    expect(JSON.stringify(inline)).toContain(
      '{"type":"image","mimeType":"image/png","size":7,"data":"cGljdHVyZQ=="}',
    );
    const bounded = await caller(plain, "odd", { maxInlineBytes: 4 })("parts");
    expect(JSON.stringify(bounded)).toContain(
      '"omitted":"more than 4 bytes, and there is no place to keep them"',
    );
  });

  it("become handles when they are large, whole", async () => {
    const store = memoryStore();
    const bytes = 3_000_000;
    expect(await caller(plain, "odd", { store })("huge", { bytes })).toEqual({
      ok: true,
      value: {
        type: "text",
        mimeType: "text/plain",
        size: bytes,
        path: "/workspace/results/0-huge.txt",
        preview: "x".repeat(400),
      },
    });
    expect(store.files.get("/workspace/results/0-huge.txt")).toHaveLength(bytes + "text/plain: ".length);
    expect(await caller(plain, "odd")("huge", { bytes })).toEqual({
      ok: true,
      value: "x".repeat(bytes),
    });
    expect(await caller(plain, "odd")("huge", { bytes: 9_000_000 })).toMatchObject({
      ok: false,
      error: { code: "RESULT_TOO_LARGE" },
    });
  });
});

describe.concurrent("resources and prompts", () => {
  it("are reached by reserved names", async () => {
    await using connections = connect([twoEra({ protocol: "2026-07-28" })]);
    const call = caller(connections, "two-era");
    expect(await call(SERVER_REQUESTS.listResources)).toMatchObject({
      value: { resources: [{ uri: "doc://readme", name: "readme", mimeType: "text/markdown" }] },
    });
    expect(await call(SERVER_REQUESTS.readResource, { uri: "doc://readme" })).toEqual({
      ok: true,
      value: {
        contents: [{ type: "resource", mimeType: "text/markdown", uri: "doc://readme", text: "# Read me" }],
      },
    });
    expect(await call(SERVER_REQUESTS.listPrompts)).toMatchObject({
      value: { prompts: [{ name: "review" }] },
    });
    expect(await call(SERVER_REQUESTS.getPrompt, { name: "review", arguments: { language: "Ada" } })).toEqual(
      {
        ok: true,
        value: { messages: [{ role: "user", content: "Review this Ada code." }] },
      },
    );
    expect(await call(SERVER_REQUESTS.listResourceTemplates)).toEqual({
      ok: true,
      value: { resourceTemplates: [] },
    });
  });

  it("say what is wrong with a request", async () => {
    await using connections = connect([twoEra()]);
    const call = caller(connections, "two-era");
    expect(await call(SERVER_REQUESTS.readResource)).toMatchObject({
      error: { code: "ARGUMENTS_INVALID", details: { argument: "uri" } },
    });
    expect(await call(SERVER_REQUESTS.readResource, { uri: "doc://none" })).toMatchObject({
      error: { code: "PROTOCOL_ERROR" },
    });
    expect(await call("mcp:roots/list")).toMatchObject({ error: { code: "TOOL_NOT_FOUND" } });
  });

  it("are empty for a server that has none", async () => {
    expect(await caller(plain, "odd")(SERVER_REQUESTS.listPrompts)).toEqual({
      ok: true,
      value: { prompts: [] },
    });
  });
});
