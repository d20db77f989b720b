import { writeFile } from "node:fs/promises";
import path from "node:path";
import type { Unvalidated } from "@cem/bridge";
import type { JsonSchema, JsonValue, ToolResult } from "@cem/core";
import { afterAll, describe, expect, it } from "vitest";
import { memoryStore } from "../fixtures/memory-store.ts";
import { answering, connect, reference } from "../fixtures/servers.ts";
import type { TestConnections } from "../fixtures/servers.ts";
import { temporaryFolder } from "../fixtures/temporary-folder.ts";
import { createMcpInvoker } from "../fixtures/invoker.ts";
import type { McpInvokerSettings } from "../fixtures/invoker.ts";

const price = { type: "number", minimum: 0 };
const order: JsonSchema = {
  type: "object",
  properties: {
    items: {
      type: "array",
      items: {
        type: "object",
        properties: { price, sku: { type: "string", pattern: "^[A-Z]+$" } },
        required: ["price"],
      },
    },
    day: { type: "string", format: "date" },
    unit: { enum: ["EUR", "USD"] },
    "a/b": { type: "string" },
  },
  required: ["items"],
  additionalProperties: false,
};

/** One server process for each output schema. */
const servers = new Map<JsonSchema | undefined, TestConnections>();
afterAll(() => Promise.all([...servers.values()].map((connections) => connections.close())));

/** Calls a tool of a real server process, which answers with the given result. */
function answer(
  outputSchema: JsonSchema | undefined,
  settings: McpInvokerSettings = {},
): (result: JsonValue) => Promise<ToolResult> {
  const connections = servers.get(outputSchema) ?? connect([answering({ list: outputSchema })]);
  servers.set(outputSchema, connections);
  const invoker = createMcpInvoker(connections, settings);
  const { signal } = new AbortController();
  return (result) => invoker.invoke({ server: "answering", tool: "list", args: { result } }, { signal });
}

const text = (said: string): JsonValue => ({ type: "text", text: said });
const base64 = (said: string): string => Buffer.from(said).toString("base64");

it.each([
  ["text", "it is neither a result nor an error"],
  [{ task: { taskId: "1", status: "working" } }, "it is a task, which was not asked for"],
  [{ content: "text" }, "content is not a list"],
])("an answer that is no result of a call fails it at once: %j", async (result, why) => {
  const error = { code: "PROTOCOL_ERROR", message: expect.stringContaining(why) as string };
  expect(await answer(undefined)(result)).toMatchObject({ ok: false, error });
});

describe("a tool with an output schema", () => {
  it("returns what fits it", async () => {
    const call = answer(order);
    const value = { items: [{ price: 1.5, sku: "A" }], day: "2026-02-28", unit: "EUR" };
    expect(await call({ content: [text("not read")], structuredContent: value })).toEqual({
      ok: true,
      value,
    });
  });

  it.each([
    [
      { items: [{ price: 1 }, { price: 2 }, { price: 3 }, { price: "4.20" }] },
      "/items/3/price",
      '`/items/3/price` must be a number, not a string: it is "4.20".',
    ],
    [{ items: [{ price: -4 }] }, "/items/0/price", "`/items/0/price` must be >= 0: it is -4."],
    [{ items: [{}] }, "/items/0/price", "`/items/0/price` is missing."],
    [
      { items: [{ prize: 1 }] },
      "/items/0/price",
      "`/items/0/price` is missing; `prize` is not in the schema.",
    ],
    [{ items: [{ price: 1, sku: "a" }] }, "/items/0/sku", 'must match the pattern ^[A-Z]+$: it is "a".'],
    [{ items: [], unit: "GBP" }, "/unit", '`/unit` must be one of "EUR", "USD": it is "GBP".'],
    [{ items: [], note: "x" }, "/note", "`/note` is not in the schema; allowed: items, day, unit, a/b."],
    [{ items: [], units: "EUR" }, "/units", "`/units` is not in the schema; did you mean `unit`?"],
    [{ items: [], "a/b": 1 }, "/a~1b", "`/a~1b` must be a string, not a number: it is 1."],
    [{ items: {} }, "/items", "`/items` must be an array, not an object."],
    [{ items: "x".repeat(70) }, "/items", `: it is "${"x".repeat(59)}….`],
    [null, "", "it must be an object, not null."],
    [[1], "", "it must be an object, not an array."],
    ["none", "", 'it must be an object, not a string: it is "none".'],
  ])("fails for %j, naming the place", async (structuredContent, place, complaint) => {
    const result = await answer(order)({ content: [], structuredContent });
    expect(result).toMatchObject({
      ok: false,
      error: {
        code: "RESULT_INVALID",
        details: { server: "answering", tool: "list", place, structuredContent },
      },
    });
    const message = result.ok ? "" : result.error.message;
    expect(message).toContain("answering.list answered, but its result does not fit its own output schema: ");
    expect(message.endsWith(`${complaint} It came as ${JSON.stringify(structuredContent)}.`)).toBe(true);
  });

  it("passes where only the format of a text is another: the call was made", async () => {
    const structuredContent = { items: [], day: "2026-02-30" };
    expect(await answer(order)({ content: [], structuredContent })).toEqual({
      ok: true,
      value: structuredContent,
    });
  });

  it("fails without structured content, whatever the text says", async () => {
    const call = answer(order);
    for (const content of [[], [text('{"items": []}')]]) {
      expect(await call({ content })).toEqual({
        ok: false,
        error: {
          code: "RESULT_INVALID",
          message: expect.stringMatching(
            /^answering\.list answered without structuredContent, which its own output schema promises\.(?: It came as .*)?$/u,
          ),
          details: { server: "answering", tool: "list", place: "" },
        },
      });
    }
  });

  it("fails with the server's own words when the call failed, and is not checked", async () => {
    const failed = { isError: true, content: [text("no such order")], structuredContent: { items: 7 } };
    expect(await answer(order)(failed)).toMatchObject({
      error: { code: "TOOL_FAILED", message: "no such order", details: { structuredContent: { items: 7 } } },
    });
    expect(await answer(order)({ isError: true, content: [text("no such order")] })).toMatchObject({
      error: { code: "TOOL_FAILED", message: "no such order" },
    });
  });

  it("leaves what is large out of the error", async () => {
    const result = await answer(order)({ content: [], structuredContent: { items: ["x".repeat(70_000)] } });
    expect(result).toMatchObject({ error: { code: "RESULT_INVALID" } });
    expect(JSON.stringify(result).length).toBeLessThan(1_000);
  });

  it("is not checked against a schema that can't be compiled, which is told once", async () => {
    const told: Unvalidated[] = [];
    const schema = { type: "object", properties: { a: { type: "strange" } } };
    const call = answer(schema, { onUnvalidated: (tool) => told.push(tool) });
    const structuredContent = { a: 1 };
    for (let round = 0; round < 2; round += 1) {
      expect(await call({ content: [], structuredContent })).toEqual({ ok: true, value: structuredContent });
    }
    expect(told).toEqual([
      {
        server: "answering",
        tool: "list",
        subject: "result",
        reason: expect.stringContaining("can't be used"),
      },
    ]);
  });

  it("is not held up by a schema and a result that are made to take long", async () => {
    const told: Unvalidated[] = [];
    const slow = { type: "array", items: { type: "string", pattern: "([a-c]{0,30}[a-d]{0,30}){0,10}[xa]$" } };
    const call = answer({ properties: { all: slow } }, { onUnvalidated: (tool) => told.push(tool) });
    const structuredContent = { all: Array.from({ length: 2_000 }, () => "a".repeat(500)) };
    expect(await call({ content: [], structuredContent })).toEqual({ ok: true, value: structuredContent });
    expect(told).toMatchObject([{ subject: "result", reason: expect.stringContaining("too large") }]);
  });

  it("is checked when it is large, before it becomes a file", async () => {
    const store = memoryStore();
    const items = Array.from({ length: 1_000 }, (_, index) => ({ price: index, sku: "ABC" }));
    // Large by a text that is not searched: the check takes far less than its limit.
    const large = { "a/b": "x".repeat(1024 * 1024), items };
    const call = answer(order, { store });
    expect(await call({ content: [], structuredContent: large })).toMatchObject({
      value: { type: "json", path: "/workspace/results/0-list.json" },
    });
    expect(await call({ content: [], structuredContent: { ...large, items: [...items, {}] } })).toMatchObject(
      {
        error: { code: "RESULT_INVALID", details: { place: "/items/1000/price" } },
      },
    );
  });
});

describe("a tool without an output schema", () => {
  it.each(["42", "-1.5", "true", "null", '"x"', "007", "", " padded ", "{not json}", "[1] and more", "{}{}"])(
    "returns the text %j as it is",
    async (said) => {
      expect(await answer(undefined)({ content: [text(said)] })).toEqual({ ok: true, value: said });
    },
  );

  it.each([
    ['{"a": 1}', { a: 1 }],
    ["\n[1, null]\n", [1, null]],
    ["[]", []],
  ])("parses %j, which is an object or an array as a whole", async (said, value) => {
    expect(await answer(undefined)({ content: [text(said)] })).toEqual({ ok: true, value });
  });

  it.each([
    [["a", "2", "true"], "a\n2\ntrue"],
    [
      ['{"a": 1}', "[2]"],
      [{ a: 1 }, [2]],
    ],
    [
      ['{"a": 1}', "2"],
      [{ a: 1 }, "2"],
    ],
  ])("reads each of the texts %j by itself, and joins those that are all plain", async (texts, value) => {
    expect(await answer(undefined)({ content: texts.map(text) })).toEqual({ ok: true, value });
  });

  it("returns structured content all the same, unchecked", async () => {
    const call = answer(undefined);
    expect(await call({ content: [text("1")], structuredContent: { n: 1 } })).toEqual({
      ok: true,
      value: { n: 1 },
    });
    expect(await call({ content: [text("1")], structuredContent: null })).toEqual({ ok: true, value: "1" });
  });
});

describe("bytes in a result", () => {
  const picture = { type: "image", data: base64("picture"), mimeType: "image/png" };
  const other = { type: "image", data: base64("other"), mimeType: "image/png" };
  const handle = { type: "image", mimeType: "image/png", size: 7, path: "/workspace/results/0-list.png" };

  it("are kept once when they come in the content and inside the structured content", async () => {
    const store = memoryStore();
    const structuredContent = {
      result: [picture, other],
      plain: picture.data,
      url: `data:image/png;base64,${picture.data}`,
      note: "picture",
    };
    const content = [picture, text("two pictures"), other];
    const second = { ...handle, size: 5, path: "/workspace/results/1-list.png" };
    const result = await answer(undefined, { store })({ content, structuredContent });
    expect(result).toMatchObject({ ok: true });
    const value = result.ok ? (result.value as Record<string, JsonValue>) : {};
    expect(Object.keys(value)).toEqual(["result", "plain", "url", "note"]);
    expect([...store.files.values()].toSorted()).toEqual(["image/png: other", "image/png: picture"]);
    const byText = new Map([...store.files].map(([path, said]) => [said.split(": ")[1], path]));
    const [first, last] = [byText.get("picture"), byText.get("other")];
    expect(value).toEqual({
      result: [
        { ...handle, path: first },
        { ...second, path: last },
      ],
      plain: { ...handle, path: first },
      url: { ...handle, path: first },
      note: "picture",
    });
  });

  it("are kept once when a real server sends them twice", async () => {
    const folder = await temporaryFolder();
    await writeFile(path.join(folder, "dot.png"), "picture");
    await using connections = connect([reference("server-filesystem", folder)]);
    const store = memoryStore();
    const invoker = createMcpInvoker(connections, { store });
    const call = {
      server: "filesystem",
      tool: "read_media_file",
      args: { path: path.join(folder, "dot.png") },
    };
    expect(await invoker.invoke(call, { signal: new AbortController().signal })).toEqual({
      ok: true,
      value: { content: [{ ...handle, path: "/workspace/results/0-read_media_file.png" }] },
    });
    expect([...store.files.values()]).toEqual(["image/png: picture"]);
  });

  it("are checked as the server sent them", async () => {
    const schema = {
      type: "object",
      properties: { shot: { type: "string", format: "byte" } },
      additionalProperties: false,
    };
    const call = answer(schema, { store: memoryStore() });
    expect(await call({ content: [picture], structuredContent: { shot: picture.data } })).toEqual({
      ok: true,
      value: { shot: handle },
    });
  });

  it("come beside the structured content that does not hold them", async () => {
    const call = answer(undefined, { store: memoryStore() });
    expect(await call({ content: [picture], structuredContent: { a: 1 } })).toEqual({
      ok: true,
      value: { _attachments: [handle], a: 1 },
    });
  });

  it("are kept once when the content repeats them", async () => {
    const store = memoryStore();
    const blob = { uri: "shop://picture", blob: picture.data, mimeType: "image/png" };
    const content = [picture, picture, { type: "resource", resource: blob }];
    const resource = { ...handle, type: "resource", uri: "shop://picture" };
    expect(await answer(undefined, { store })({ content })).toEqual({
      ok: true,
      value: [handle, handle, resource],
    });
    expect(store.files.size).toBe(1);
  });

  it("are found inside structured content alone, in the form of a content part", async () => {
    const store = memoryStore();
    const file = { type: "resource", resource: { uri: "shop://a.pdf", blob: base64("pdf") } };
    const lookalikes = [
      { type: "image", data: "https://example.com/a.png", mimeType: "image/png" },
      { type: "image", data: base64("x"), mimeType: "text/plain" },
      { type: "image", data: base64("x") },
      { type: "chart", data: base64("x"), mimeType: "chart/x" },
    ];
    const result = await answer(undefined, { store })({
      content: [],
      structuredContent: { deep: [{ picture, file }], lookalikes },
    });
    expect(result).toMatchObject({
      value: {
        deep: [
          { picture: { type: "image", size: 7 }, file: { type: "resource", size: 3, uri: "shop://a.pdf" } },
        ],
        lookalikes,
      },
    });
    expect([...store.files.values()].toSorted()).toEqual([
      "application/octet-stream: pdf",
      "image/png: picture",
    ]);
  });

  it("come once without a store, too", async () => {
    const call = answer(undefined);
    const result = await call({ content: [picture], structuredContent: { result: picture } });
    const inline = { type: "image", mimeType: "image/png", size: 7, data: picture.data };
    expect(result).toEqual({ ok: true, value: { result: inline } });
  });
});
