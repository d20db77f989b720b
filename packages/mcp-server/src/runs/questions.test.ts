import type { Agent, ElicitAnswer, ElicitRequest } from "@cem/core";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { ClientOptions } from "@modelcontextprotocol/client";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { jsonOf } from "../../fixtures/clients.ts";
import { createLocalAgent } from "../../fixtures/local-agent.ts";
import { servesInTests } from "../../fixtures/serve.ts";

const { agent } = createLocalAgent();
const requestedSchema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
const signal = new AbortController().signal;
const FORM: ElicitRequest = { mode: "form", server: "shop", message: "Who?", requestedSchema, signal };
const PAGE: ElicitRequest = {
  mode: "url",
  server: "shop",
  message: "Pay",
  url: "https://pay.example/",
  signal,
};

/** Asks the question, and runs code that returns the answer. */
const asking = (question: ElicitRequest): Agent => ({
  ...agent,
  discoverTools: (options) => agent.discoverTools(options),
  executeCode: async (_, options) => {
    const answer = await options?.onElicit?.(question);
    return agent.executeCode(`return ${JSON.stringify(answer ?? null)};`, options);
  },
});
const serve = servesInTests(agent);

afterAll(() => agent.dispose());

type Capabilities = NonNullable<ClientOptions["capabilities"]>["elicitation"];

async function ask(
  era: "modern" | "legacy",
  question: ElicitRequest,
  answer: object,
  elicitation: Capabilities | "none" = { form: {}, url: {} },
) {
  const { url } = await serve({}, { agent: asking(question) });
  const mode = era === "legacy" ? "legacy" : ({ pin: "2026-07-28" } as const);
  const client = new Client(
    { name: "t", version: "1" },
    { versionNegotiation: { mode }, capabilities: elicitation === "none" ? {} : { elicitation } },
  );
  const asked: unknown[] = [];
  if (elicitation !== "none") {
    client.setRequestHandler("elicitation/create", ({ params }) => {
      asked.push(params);
      return answer as { action: "decline" };
    });
  }
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  onTestFinished(() => client.close());
  const result = await client.callTool({ name: "execute_code", arguments: { code: "-" } });
  return { asked, answer: (jsonOf(result) as { result: ElicitAnswer | null }).result };
}

describe.each(["modern", "legacy"] as const)("a question, by the %s protocol", (era) => {
  it("reaches the client's user as a form, and the answer the run", async () => {
    const content = { name: "Ada" };
    const { asked, answer } = await ask(era, FORM, { action: "accept", content });
    expect(asked).toMatchObject([{ message: "shop asks: Who?", requestedSchema }]);
    expect(answer).toEqual({ action: "accept", content });
  });

  it("reaches the client's user as a page", async () => {
    const { asked, answer } = await ask(era, PAGE, { action: "accept" });
    expect(asked).toMatchObject([{ mode: "url", message: "shop asks: Pay", url: "https://pay.example/" }]);
    expect(answer).toEqual({ action: "accept" });
  });

  it.each(["decline", "cancel"])("may be answered with %s", async (action) => {
    expect((await ask(era, FORM, { action })).answer).toEqual({ action });
  });

  it("is cancelled where the client can't ask its user, or not this way, and says that nobody was asked", async () => {
    const answer = { action: "cancel", reason: "Nobody could be asked: the client can't ask its user." };
    expect((await ask(era, FORM, {}, "none")).answer).toEqual(answer);
    expect(await ask(era, PAGE, { action: "accept" }, { form: {} })).toEqual({
      asked: [],
      answer,
    });
  });

  it("is a form where the client says no more than that it can ask", async () => {
    const content = { name: "Ada" };
    expect((await ask(era, FORM, { action: "accept", content }, {})).answer).toEqual({
      action: "accept",
      content,
    });
  });
});
