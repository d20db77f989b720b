import type { Agent, JsonObject, Replicas } from "@cem/core";
import { afterAll, describe, expect, it } from "vitest";
import { createLocalAgent } from "../../fixtures/local-agent.ts";
import { servesInTests } from "../../fixtures/serve.ts";
import type { AgentServerSettings } from "../index.ts";

const requestedSchema: JsonObject = {
  type: "object",
  properties: { sure: { type: "boolean" } },
  required: ["sure"],
};
const answers: unknown[] = [];

const local = createLocalAgent();
/** An agent whose code `ask()` asks one question, and notes how it was answered. */
const agent: Agent = {
  ...local.agent,
  executeCode: async (code, options) => {
    const { onElicit, signal = new AbortController().signal } = options ?? {};
    if (code === "sample()") {
      const params = { messages: [], maxTokens: 9 };
      const sampled = options?.onSample?.({ server: "lab", params, signal });
      answers.push(await sampled?.catch((error: unknown) => String(error)));
    }
    if (code !== "ask()") return local.agent.executeCode(code, options);
    const request = { mode: "form", server: "lab", message: "Sure?", requestedSchema, signal } as const;
    answers.push(await onElicit?.(request).catch(() => "not answered"));
    return local.agent.executeCode("return 1;", options);
  },
};

const serve = servesInTests(agent);
afterAll(() => local.agent.dispose());

const HEADERS = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
  "mcp-protocol-version": "2025-06-18",
};

/** Calls `execute_code` as a client that listens to no other stream than that of its call. */
async function connect(url: string, code = "ask()") {
  const send = (message: object, more: Record<string, string> = {}): Promise<Response> =>
    fetch(url, {
      method: "POST",
      headers: { ...HEADERS, ...more },
      body: JSON.stringify({ jsonrpc: "2.0", ...message }),
    });
  const params = {
    protocolVersion: "2025-06-18",
    capabilities: { elicitation: {} },
    clientInfo: { name: "test", version: "1.0.0" },
  };
  const opened = await send({ id: 1, method: "initialize", params });
  await opened.text();
  const session = { "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" };
  await send({ method: "notifications/initialized" }, session);
  const call = await send(
    { id: 2, method: "tools/call", params: { name: "execute_code", arguments: { code } } },
    session,
  );
  const reader = call.body?.pipeThrough(new TextDecoderStream()).getReader();
  const messages: Record<string, unknown>[] = [];
  const next = async (): Promise<Record<string, unknown> | undefined> => {
    for (let text = ""; messages.length === 0;) {
      const { value, done = true } = (await reader?.read()) ?? {};
      if (done) return undefined;
      text += value;
      for (const line of text.split("\n").slice(0, -1))
        if (line.startsWith("data: {")) messages.push(JSON.parse(line.slice(6)) as Record<string, unknown>);
      text = text.slice(text.lastIndexOf("\n") + 1);
    }
    return messages.shift();
  };
  return { next, send: (message: object) => send(message, session) };
}

describe("a call whose run asks the user, by the older protocol", () => {
  it("has the question on its own stream", async () => {
    const { url } = await serve();
    const client = await connect(url);
    const question = await client.next();
    expect(question).toMatchObject({ method: "elicitation/create", params: { message: "lab asks: Sure?" } });
    await client.send({ id: question?.["id"], result: { action: "accept", content: { sure: true } } });
    expect(await client.next()).toMatchObject({ id: 2, result: { structuredContent: { success: true } } });
    expect(answers.splice(0)).toEqual([{ action: "accept", content: { sure: true } }]);
  });

  it("is not asked for a model that its client does not offer", async () => {
    const { url } = await serve();
    const client = await connect(url, "sample()");
    expect(await client.next()).toMatchObject({ id: 2, result: {} });
    expect(answers.splice(0)).toEqual(["Error: The client offers no model."]);
  });

  it("ends its run where it is cancelled, so that no answer lets it go on", async () => {
    const { url, server } = await serve();
    const client = await connect(url);
    expect(await client.next()).toMatchObject({ method: "elicitation/create" });
    expect(server.runs.active).toBe(1);
    await client.send({ method: "notifications/cancelled", params: { requestId: 2, reason: "no" } });
    expect(await client.next()).toMatchObject({ method: "notifications/cancelled" });
    expect(await client.next()).toMatchObject({ id: 2, error: { message: "The request was cancelled." } });
    expect(await client.next()).toBeUndefined();
    await expect.poll(() => [server.runs.active, server.runs.kept]).toEqual([0, 0]);
    expect(answers.splice(0)).toEqual(["not answered"]);
  });
});

/** Sends a request by the protocol of 2026-07-28. */
async function sendModern(
  url: string,
  method: string,
  given: { name: string; arguments?: object },
): Promise<Record<string, unknown>> {
  const headers = {
    ...HEADERS,
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": method,
    "mcp-name": given.name,
  };
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "1.0.0" },
    "io.modelcontextprotocol/clientCapabilities": { elicitation: {} },
  };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...given, _meta: meta } });
  const text = await (await fetch(url, { method: "POST", headers, body })).text();
  const json = text.startsWith("{") ? text : (/^data: (\{.*)$/m.exec(text)?.[1] ?? "{}");
  const { result, error } = JSON.parse(json) as Record<string, Record<string, unknown>>;
  return result ?? { error };
}

/** Accepts all questions of an answer. */
function replyTo({ requestState, inputRequests }: Record<string, unknown>): object {
  const reply = { action: "accept", content: { sure: true } };
  const keys = Object.keys(inputRequests as object);
  return { requestState, inputResponses: Object.fromEntries(keys.map((key) => [key, reply])) };
}

describe("a prompt of a server behind that asks the user", () => {
  it("is gone on with by its own state, and no other prompt is", async () => {
    const upstream: NonNullable<AgentServerSettings["upstream"]> = {
      servers: ["lab"],
      list: async () => [],
      async request(_server, { method, params }, { elicit, signal }) {
        const name = method === "prompts/get" ? params.name : method;
        const question = { mode: "form", server: "lab", message: "Sure?", requestedSchema, signal } as const;
        if (name === "asking") await elicit?.(question);
        return { messages: [{ role: "user", content: { type: "text", text: name } }] };
      },
    };
    const { url } = await serve({}, { upstream, expose: ["prompts"] });
    const get = (name: string, more = {}) => sendModern(url, "prompts/get", { name, ...more });
    const reply = replyTo(await get("lab.asking"));
    expect(await get("lab.plain", reply)).toMatchObject({ messages: [{ content: { text: "plain" } }] });
    expect(await get("lab.asking", reply)).toMatchObject({ messages: [{ content: { text: "asking" } }] });
  });
});

describe("a question of a run whose replica of the server is gone", () => {
  /** A replica that knows of no other that is there. */
  const replicaOf = (name: string): Replicas => ({
    specificationVersion: "v1",
    name,
    receive: async () => {},
    send: async () => undefined,
    sharedKey: async () => new Uint8Array(32).fill(7),
  });

  /** The same work goes on elsewhere, and asks again. */
  const queued: Agent = {
    ...agent,
    rejoinRun: (_key, options) =>
      agent.executeCode("ask()", { onElicit: options?.onElicit, signal: options?.signal }),
  };

  const callModern = (url: string, more: object): Promise<Record<string, unknown>> =>
    sendModern(url, "tools/call", { name: "execute_code", arguments: { code: "ask()" }, ...more });

  it("is asked again by another, and answered there", async () => {
    const lost = await serve({}, { agent: queued, replicas: replicaOf("aa") });
    const other = await serve({}, { agent: queued, replicas: replicaOf("bb") });
    const asked = await callModern(lost.url, {});
    expect(asked).toMatchObject({
      resultType: "input_required",
      requestState: expect.stringMatching(/^aa\./),
    });
    const again = await callModern(other.url, replyTo(asked));
    expect(again).toMatchObject({
      resultType: "input_required",
      requestState: expect.stringMatching(/^bb\./),
    });
    expect(await callModern(other.url, replyTo(again))).toMatchObject({
      structuredContent: { success: true, result: 1 },
    });
  });

  it("is not taken with a state that none of them signed", async () => {
    const { url } = await serve({}, { agent: queued, replicas: replicaOf("bb") });
    expect(await callModern(url, { requestState: "aa.eyJwIjoicnVuLWFhLngifQ.x" })).toMatchObject({
      error: { code: -32_602 },
    });
  });
});
