import { setTimeout as delay } from "node:timers/promises";
import { CemError } from "@cem/core";
import type { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { connectHttp, firstText } from "../fixtures/clients.ts";
import { createLocalAgent } from "../fixtures/local-agent.ts";
import { quietLogger } from "../fixtures/serve.ts";
import { createAgentServer, customTool, serveHttp } from "./index.ts";
import type { AgentServer, AnyCustomTool, HttpServing } from "./index.ts";

const { agent } = createLocalAgent();
let server: AgentServer<{ answer: number }>;
let serving: HttpServing;
const clients: Partial<Record<"modern" | "legacy", Client>> = {};

const double = customTool({
  name: "double",
  title: "Double",
  description: "Doubles a number.",
  inputSchema: z.object({ number: z.number() }),
  outputSchema: z.object({ doubled: z.number() }),
  annotations: { readOnlyHint: true },
  handler: ({ number }) => ({ doubled: number * 2 }),
});

beforeAll(async () => {
  server = createAgentServer<{ answer: number }>({
    agent,
    config: { answer: 42 },
    profile: "code",
    customTools: [double],
    hintFor: ({ code, details }) => (code === "OURS" ? `Try ${String(details["other"])}.` : undefined),
  });
  serving = await serveHttp(server, { port: 0, logger: quietLogger });
  clients.modern = await connectHttp(serving.url, "modern");
  clients.legacy = await connectHttp(serving.url, "legacy");
});

afterAll(async () => {
  await serving?.close();
  await agent.dispose();
});

async function call(name: string, args: Record<string, unknown> = {}, era: "modern" | "legacy" = "modern") {
  const client = clients[era];
  if (client === undefined) throw new Error(`not connected: ${era}`);
  return client.callTool({ name, arguments: args });
}

const handler = () => null;
const add = (name: string, answer: AnyCustomTool["handler"]): void =>
  server.registerTool({ name, description: name, handler: answer });

describe("custom tools", () => {
  it("are checked on the way in and out, and answer", async () => {
    expect((await call("double", { number: 4 })).structuredContent).toEqual({ doubled: 8 });
    expect(await call("double", { number: "4" })).toMatchObject({ isError: true });
  });

  it("can be added while clients are connected, and reach agent and configuration", async () => {
    const heard = new Promise<void>((resolve) => {
      clients.legacy?.setNotificationHandler("notifications/tools/list_changed", () => resolve());
    });
    server.registerTool({
      name: "count_tools",
      description: "Counts.",
      async handler(_input, { agent: theAgent, config, signal }) {
        const { servers } = await theAgent.discoverTools({ signal });
        return `${servers.length} servers, ${config.answer}`;
      },
    });
    await heard;
    expect(firstText(await call("count_tools", {}, "legacy"))).toBe("4 servers, 42");
    expect(firstText(await call("count_tools"))).toBe("4 servers, 42");
  });

  it("take any Standard Schema", async () => {
    server.registerTool({
      name: "shout",
      description: "Shouts.",
      inputSchema: {
        "~standard": {
          version: 1,
          vendor: "by-hand",
          validate: (value: unknown) =>
            typeof (value as { text?: unknown }).text === "string"
              ? { value: value as { text: string } }
              : { issues: [{ message: "text has to be a text" }] },
        },
      },
      handler: ({ text }: { text: string }) => ({ content: [{ type: "text", text: text.toUpperCase() }] }),
    });
    expect(firstText(await call("shout", { text: "hey" }))).toBe("HEY");
    expect(firstText(await call("shout", { text: 1 }))).toContain("text has to be a text");
  });

  it("are listed as they were declared", async () => {
    const { tools = [] } = (await clients.modern?.listTools()) ?? {};
    expect(tools.map(({ name }) => name).slice(0, 4)).toEqual([
      "execute_code",
      "search_tools",
      "read_result",
      "double",
    ]);
    expect(tools[3]).toMatchObject({
      title: "Double",
      description: "Doubles a number.",
      inputSchema: { properties: { number: { type: "number" } } },
      outputSchema: { properties: { doubled: { type: "number" } } },
      annotations: { readOnlyHint: true },
    });
  });

  it.each([
    ["a text", "plain", "plain"],
    ["an object", { a: 1 }, '{"a":1}'],
    ["null", null, "null"],
    ["nothing", undefined, "null"],
    ["content", { content: [{ type: "text", text: "own" }] }, "own"],
  ])("may answer with %s", async (kind, answer, text) => {
    const name = `answers_${kind.replace(" ", "_")}`;
    add(name, () => answer as string);
    expect(firstText(await call(name))).toBe(text);
  });

  it("answer with what they throw, followed by the hint for it", async () => {
    add("fails", () => {
      throw new Error("broken");
    });
    add("fails_with_code", async () => {
      throw new CemError("OURS", "It is broken.", { details: { other: "another" } });
    });
    expect(await call("fails")).toMatchObject({ isError: true, content: [{ text: "broken" }] });
    expect(await call("fails_with_code")).toMatchObject({
      isError: true,
      content: [{ text: "It is broken. Try another." }],
    });
  });

  it("have names of their own, and are added together or not at all", () => {
    const fresh = { name: "fresh", description: "", handler };
    const taken = { name: "double", description: "", handler };
    const refused = expect.objectContaining({
      code: "TOOL_NAME_TAKEN",
      message: 'There is a tool "double" already.',
      details: { tool: "double" },
    });
    expect(() => server.registerTools([fresh, taken])).toThrow(refused);
    expect(() => server.registerTools([fresh, fresh])).toThrow(/a tool "fresh" already/);
    expect(() => server.registerTool(fresh)).not.toThrow();
  });
});

describe("a custom tool of the wrong shape", () => {
  const standard = { "~standard": { version: 1, vendor: "x", validate: () => ({ value: {} }) } };

  it.each<[unknown, string, object]>([
    [undefined, "A custom tool is missing; it has to be an object.", { given: "missing" }],
    ["double", "A custom tool is 'double'; it has to be an object.", { needed: "an object" }],
    [
      { description: "", handler },
      'A custom tool: "name" is missing; it has to be 1 to 128 letters, digits, _, - and .',
      { member: "name", given: "missing" },
    ],
    [
      { name: "my tool", description: "", handler },
      `Custom tool 'my tool': "name" is 'my tool'`,
      { tool: "my tool" },
    ],
    [{ name: "", description: "", handler }, `"name" is ''`, { member: "name" }],
    [{ name: "x".repeat(129), description: "", handler }, "'... 69 more characters;", { member: "name" }],
    [{ name: "a", handler }, `Custom tool 'a': "description" is missing; it has to be a string.`, {}],
    [{ name: "a", title: 5, description: "", handler }, '"title" is 5; it has to be a string.', {}],
    [
      { name: "a", description: "" },
      '"handler" is missing; it has to be a function.',
      { needed: "a function" },
    ],
    [{ name: "a", description: "", handler: "x" }, `"handler" is 'x'; it has to be a function.`, {}],
    [{ name: "a", description: "", handler, annotations: "no" }, '"annotations" is', {}],
    [
      { name: "a", description: "", handler, inputSchema: { type: "object" } },
      '"inputSchema" is [Object]; it has to be a Standard Schema, an object with "~standard".',
      { member: "inputSchema" },
    ],
    [
      { name: "a", description: "", handler, inputSchema: { "~standard": {} } },
      '"inputSchema" is [Object]',
      {},
    ],
    [{ name: "a", description: "", handler, inputSchema: [] }, '"inputSchema" is []', {}],
    [{ name: "a", description: "", handler, inputSchema: handler }, '"inputSchema" is [Function', {}],
    [
      { name: "a", description: "", handler, outputSchema: standard },
      '"outputSchema" is [Object]; it has to be',
      {},
    ],
    [
      { name: "a", description: "", handler, outputSchema: { "~standard": { jsonSchema: {} } } },
      '"outputSchema" is [Object]',
      {},
    ],
    [
      { name: "a", description: "", handler, handlr: 1 },
      `Custom tool 'a' has an unknown member "handlr". Did you mean "handler"?`,
      { member: "handlr", nearest: "handler" },
    ],
    [
      { name: "a", description: "", handler, qqq: 1 },
      "Its members are name, title, description, inputSchema, outputSchema, annotations, handler.",
      { member: "qqq" },
    ],
  ])("is refused when it is registered: %j", (tool, words, details) => {
    const refused = expect.objectContaining({
      code: "TOOL_INVALID",
      message: expect.stringContaining(words),
      details: expect.objectContaining(details),
    });
    const given = tool as AnyCustomTool;
    expect(() => server.registerTool(given)).toThrow(refused);
    expect(() => createAgentServer({ agent, customTools: [given] })).toThrow(refused);
  });

  it.each([
    { name: "a.B-c_9".padEnd(128, "x"), description: "", handler },
    { name: "a", title: undefined, description: "", inputSchema: standard, outputSchema: undefined, handler },
    { name: "a", description: "", inputSchema: Object.assign(() => {}, standard), handler },
  ])("is not this one: %j", (tool) => {
    expect(() => createAgentServer({ agent, customTools: [tool as AnyCustomTool] })).not.toThrow();
  });
});

describe("createAgentServer", () => {
  it.each<[object, string]>([
    [{ customTool: [] }, '"customTool" is not an option of createAgentServer. Did you mean "customTools"?'],
    [{ profile: "most" }, 'There is no profile "most". There are: full, code, original.'],
    [{ profile: "constructor" }, 'There is no profile "constructor".'],
  ])("refuses %j", (settings, message) => {
    expect(() => createAgentServer({ agent, ...settings })).toThrow(
      expect.objectContaining({ code: "OPTION_INVALID", message: expect.stringContaining(message) }),
    );
  });
});

describe("lists of servers behind", () => {
  const upstream = { servers: ["behind"], list: async () => [], request: async () => ({}) };

  it.each([
    { expose: [], announced: ["tools"] },
    { expose: ["resources"], announced: ["tools", "resources"] },
  ] as const)("are announced where they are exposed: $expose", async ({ expose, announced }) => {
    const own = createAgentServer({ agent, config: {}, profile: "code", upstream, expose: [...expose] });
    const served = await serveHttp(own, { port: 0, logger: quietLogger });
    const client = await connectHttp(served.url, "legacy");
    const heard = new Set<string>();
    for (const list of ["tools", "resources", "prompts"] as const)
      client.setNotificationHandler(`notifications/${list}/list_changed`, () => void heard.add(list));
    // The client opens its stream when it likes.
    while (!heard.has("tools")) {
      for (const list of ["prompts", "resources", "tools"] as const) own.listChanged(list);
      await delay(20);
    }
    expect(heard).toEqual(new Set(announced));
    await served.close();
  });

  it("change with a message, unless its client wants none of its level", async () => {
    const own = createAgentServer({ agent });
    const served = await serveHttp(own, { port: 0, logger: quietLogger });
    const client = await connectHttp(served.url, "legacy");
    const told: unknown[] = [];
    client.setNotificationHandler("notifications/message", ({ params }) => void told.push(params.data));
    const tell = async (message: string) => {
      own.listChanged("tools", message);
      await delay(20);
    };
    // The client opens its stream when it likes.
    while (!told.includes("first")) await tell("first");
    await expect(client.setLoggingLevel("loud" as "error")).rejects.toMatchObject({
      code: -32_602,
      message: expect.stringContaining("level: Invalid option"),
    });
    await client.setLoggingLevel("error");
    await tell("second");
    await client.setLoggingLevel("notice");
    while (!told.includes("third")) await tell("third");
    expect(told).not.toContain("second");
    await served.close();
  });

  it("are not watched for a client once its session has ended", async () => {
    const asked: object[] = [];
    const request = async (_server: string, given: object) => {
      asked.push(given);
      return {};
    };
    const own = createAgentServer({ agent, upstream: { ...upstream, request }, expose: ["resources"] });
    const served = await serveHttp(own, { port: 0, logger: quietLogger });
    const client = await connectHttp(served.url, "legacy");
    await client.subscribeResource({ uri: "mcp://behind/note://1" });
    await (client.transport as StreamableHTTPClientTransport).terminateSession();
    const params = { uri: "note://1" };
    expect(asked).toEqual([
      { method: "resources/subscribe", params },
      { method: "resources/unsubscribe", params },
    ]);
    await served.close();
  });
});
