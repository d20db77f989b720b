import type { Agent, ElicitAnswer, ElicitRequest } from "@cem/core";
import { elicitApproval } from "@cem/guardrails/calls";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { ClientOptions } from "@modelcontextprotocol/client";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { jsonOf } from "../../fixtures/clients.ts";
import { createLocalAgent } from "../../fixtures/local-agent.ts";
import { servesInTests } from "../../fixtures/serve.ts";
import { MAX_OPEN_QUESTIONS, MAX_OPEN_QUESTIONS_CHARACTERS, MAX_QUESTION_CHARACTERS } from "../limits.ts";
import { OpenQuestions } from "./questions.ts";

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
  token?: string,
) {
  const { url } = await serve(token === undefined ? {} : { auth: { token } }, { agent: asking(question) });
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
  const requestInit = { headers: token === undefined ? {} : { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
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

describe("a question whose answer may hold for the session", async () => {
  const asked: ElicitRequest[] = [];
  const approve = elicitApproval(async (request) => {
    asked.push(request);
    return { action: "decline" };
  });
  await approve({ server: "mail", tool: "wipe", args: {}, reason: "it is set to", session: "s", signal });
  const [lasting = FORM] = asked;
  const token = "0123456789abcdef";

  it.each([
    ["modern", lasting, token, true],
    ["modern", FORM, token, false],
    ["modern", lasting, undefined, false],
    ["legacy", lasting, token, false],
  ] as const)("says that all with the token are in it, %s, case %#", async (era, question, given, isSaid) => {
    const { asked: shown } = await ask(era, question, { action: "decline" }, undefined, given);
    const words = " (This session is that of all who use the server's token.)";
    const message = `${question.server} asks: ${question.message}${isSaid ? words : ""}`;
    expect(shown).toMatchObject([{ message }]);
  });
});

describe("the open questions of a run", () => {
  const refused = { action: "cancel", reason: expect.stringContaining("Nobody could be asked: ") };

  it("are so many at most, and what is asked beyond is answered at once", async () => {
    const questions = new OpenQuestions();
    const all = Array.from({ length: MAX_OPEN_QUESTIONS }, () => questions.elicit(FORM));
    expect(await questions.elicit(FORM)).toEqual(refused);
    await expect(questions.sample({ server: "shop", params: {}, signal })).rejects.toThrow(/^Nobody could/);
    expect(questions.size).toBe(MAX_OPEN_QUESTIONS);
    const [first = ""] = questions.all.keys();
    questions.answer(new Map([[first, { action: "decline" }]]));
    const next = questions.elicit(FORM);
    questions.cancelAll();
    expect((await Promise.all([...all, next])).map(({ action }) => action)).toEqual([
      "decline",
      ...Array.from({ length: MAX_OPEN_QUESTIONS }, () => "cancel"),
    ]);
  });

  it("hold so many characters at most, and none of a message beyond its part", async () => {
    const questions = new OpenQuestions();
    const name = "n".repeat(MAX_OPEN_QUESTIONS_CHARACTERS / 2);
    const large: ElicitRequest = { ...FORM, mode: "form", requestedSchema: { properties: { [name]: {} } } };
    const first = questions.elicit(large);
    expect(await questions.elicit(large)).toEqual(refused);
    void questions.elicit({ ...FORM, message: "m ".repeat(MAX_QUESTION_CHARACTERS) });
    const [, long] = questions.all.values();
    expect(long).toMatchObject({
      message: `${"m ".repeat(MAX_QUESTION_CHARACTERS / 2)}… (${MAX_QUESTION_CHARACTERS} more characters are not shown)`,
    });
    questions.cancelAll();
    await first;
  });
});
