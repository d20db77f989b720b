import { createOpenAI } from "@ai-sdk/openai";
import { generateText, isStepCount, streamText } from "ai";
import type { ModelMessage } from "ai";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import type { ChatServer } from "../../codegen/fixtures/chat-server.ts";
import { modelThatCalls, modelThatRuns, openShop, PNG, PROGRAMS } from "../fixtures/shop.ts";
import { executeCodeTool, searchToolsTool } from "./index.ts";

const shop = openShop();
const { agent } = shop;
let server: ChatServer;

afterEach(() => server.close());
afterAll(() => shop.close());

function model(api: "chat" | "responses" = "responses") {
  const provider = createOpenAI({ baseURL: `${server.origin}/v1`, apiKey: "none" });
  return provider[api]("gpt-5");
}

/** The model's input with the request, as text. */
function sent(at: number): string {
  const { messages, input } = server.requests[at]?.body ?? {};
  return JSON.stringify(messages ?? input);
}

describe("executeCodeTool, with the AI SDK", () => {
  it.each(["chat", "responses"] as const)("runs code and passes the value on, by %s", async (api) => {
    server = await modelThatRuns(PROGRAMS.total);
    const tools = { execute_code: await executeCodeTool(agent) };
    const { text, steps } = await generateText({
      model: model(api),
      prompt: "What are orders 1 to 3 worth together?",
      tools,
      stopWhen: isStepCount(3),
    });
    expect(text).toBe("Done.");
    expect(steps[0]?.toolResults[0]?.output).toMatchObject({ success: true, result: 60, error: null });
    expect(sent(1)).toContain('\\"result\\":60');
    const [declared] = server.requests[0]?.body.tools ?? [];
    expect(JSON.stringify(declared)).toContain("find_order(input: { id: number");
    expect(JSON.stringify(declared)).toContain('"required":["code"]');
  });

  it("takes a topic without words for none", async () => {
    server = await modelThatRuns();
    const { description } = await executeCodeTool(agent, { task: " " });
    expect(description).toContain("find_order(input: { id: number");
  });

  it("streams", async () => {
    server = await modelThatRuns(PROGRAMS.total);
    const tools = { execute_code: await executeCodeTool(agent) };
    const { text, steps } = streamText({
      model: model("chat"),
      prompt: "?",
      tools,
      stopWhen: isStepCount(3),
    });
    expect(await text).toBe("Done.");
    expect((await steps)[0]?.toolResults[0]?.output).toMatchObject({ result: 60 });
  });

  it("shows the model images, and keeps them out of the output", async () => {
    server = await modelThatRuns(PROGRAMS.photo);
    const tools = { execute_code: await executeCodeTool(agent) };
    const { steps } = await generateText({
      model: model(),
      prompt: "Show me order 1.",
      tools,
      stopWhen: isStepCount(3),
    });
    expect(JSON.stringify(steps[0]?.toolResults)).not.toContain(PNG);
    expect(steps[0]?.toolResults[0]?.output).toMatchObject({
      result: { type: "image", mimeType: "image/png" },
    });
    expect(sent(1)).toContain(`data:image/png;base64,${PNG}`);
  });

  it("leaves images out for models that take none", async () => {
    server = await modelThatRuns(PROGRAMS.photo);
    const tools = { execute_code: await executeCodeTool(agent, { attachments: false }) };
    await generateText({ model: model(), prompt: "?", tools, stopWhen: isStepCount(3) });
    expect(sent(1)).not.toContain(PNG);
  });

  it("tells the model what went wrong", async () => {
    server = await modelThatRuns("const x: number = 1; return x.y.z;", "");
    const tools = { execute_code: await executeCodeTool(agent) };
    const { steps } = await generateText({ model: model(), prompt: "?", tools, stopWhen: isStepCount(4) });
    expect(steps[0]?.toolResults[0]?.output).toMatchObject({
      success: false,
      error: expect.stringContaining("undefined"),
    });
    expect(steps[1]?.toolResults[0]?.output).toMatchObject({
      success: false,
      error: expect.stringContaining("empty"),
    });
  });

  it("ends the run when the request is aborted", async () => {
    server = await modelThatRuns(PROGRAMS.wait);
    const controller = new AbortController();
    const tools = { execute_code: await executeCodeTool(agent) };
    const answer = generateText({
      model: model(),
      prompt: "?",
      tools,
      stopWhen: isStepCount(3),
      abortSignal: controller.signal,
    });
    const caught = answer.catch((error: unknown) => error);
    await shop.waiting();
    controller.abort(new Error("The user went away."));
    expect(String(await caught)).toMatch(/went away|abort/iu);
    expect(server.requests).toHaveLength(1);
  });

  it("asks for an approval, runs what was approved, and not what was refused", async () => {
    const tools = { execute_code: await executeCodeTool(agent, { needsApproval: "destructive" }) };
    for (const approved of [false, true]) {
      await server?.close();
      server = await modelThatRuns(PROGRAMS.total, PROGRAMS.remove);
      const messages: ModelMessage[] = [{ role: "user", content: "Delete order 7." }];
      const first = await generateText({ model: model(), messages, tools, stopWhen: isStepCount(4) });
      const request = first.content.find((part) => part.type === "tool-approval-request");
      expect(first.steps[0]?.toolResults[0]?.output).toMatchObject({ result: 60 });
      expect(request).toMatchObject({ toolCall: { input: { code: PROGRAMS.remove } } });
      expect(shop.deleted).toEqual([]);
      messages.push(...first.responseMessages, {
        role: "tool",
        content: [{ type: "tool-approval-response", approvalId: request?.approvalId ?? "", approved }],
      });
      const second = await generateText({ model: model(), messages, tools, stopWhen: isStepCount(4) });
      expect(second.text).toBe("Done.");
      expect(shop.deleted.splice(0)).toEqual(approved ? [7] : []);
    }
  });

  it("refuses a destructive call that nobody saw", async () => {
    server = await modelThatRuns(PROGRAMS.remove, PROGRAMS.hidden);
    const unasked = { execute_code: await executeCodeTool(agent) };
    await generateText({ model: model(), prompt: "?", tools: unasked, stopWhen: isStepCount(4) });
    await server.close();
    server = await modelThatRuns(PROGRAMS.hidden);
    const tools = { execute_code: await executeCodeTool(agent, { needsApproval: "destructive" }) };
    await generateText({ model: model(), prompt: "?", tools, stopWhen: isStepCount(4) });
    expect(shop.deleted).toEqual([]);
    expect(sent(1)).toContain("delete_order was not called");
  });

  it("takes an approval for the calls that stand in the code, not for words in a comment or a text", async () => {
    const { execute, needsApproval } = await executeCodeTool(agent, { needsApproval: "destructive" });
    const all = await executeCodeTool(agent, { needsApproval: true });
    const commented = `// No delete_order here.\nconst title = "delete_order";\n${PROGRAMS.hidden}`;
    for (const run of [execute, all.execute]) {
      const { error } = await run({ code: commented });
      expect(error).toContain("delete_order was not called");
    }
    expect(await needsApproval?.({ code: commented })).toBe(false);
    expect(shop.deleted).toEqual([]);

    const handedOn = "return await Promise.all([{ id: 5 }].map(delete_order));";
    for (const code of [handedOn, "```ts\nreturn await delete_order({ id: 6 });\n```"]) {
      expect(await needsApproval?.({ code })).toBe(true);
      expect(await execute({ code })).toMatchObject({ success: true });
    }
    expect(shop.deleted.splice(0)).toEqual([5, 6]);
  });
});

describe("needsApproval that answers otherwise the next time", () => {
  it("is asked once for each call: what nobody saw makes no destructive call", async () => {
    server = await modelThatRuns(PROGRAMS.remove, PROGRAMS.remove);
    let asked = 0;
    const tools = { execute_code: await executeCodeTool(agent, { needsApproval: () => ++asked >= 2 }) };
    const { content } = await generateText({ model: model(), prompt: "?", tools, stopWhen: isStepCount(4) });
    expect(shop.deleted).toEqual([]);
    expect(sent(1)).toContain("delete_order was not called");
    expect(content.filter(({ type }) => type === "tool-approval-request")).toHaveLength(1);
    expect(asked).toBe(2);
  });
});

describe("needsApproval that fails", () => {
  it("is asked again for the same call, and what failed approves nothing", async () => {
    let asked = 0;
    const ask = async (): Promise<boolean> => {
      asked += 1;
      if (asked % 2 === 1) throw new Error("Nobody is there.");
      return true;
    };
    const { execute, needsApproval } = await executeCodeTool(agent, { needsApproval: ask });
    const code = "return await delete_order({ id: 6 });";
    for (const options of [{}, { toolCallId: "call_1" }]) {
      await expect(needsApproval?.({ code }, options)).rejects.toThrow("Nobody is there.");
      expect(await needsApproval?.({ code }, options)).toBe(true);
      expect(await execute({ code }, options)).toMatchObject({ success: true });
      expect(shop.deleted.splice(0)).toEqual([6]);
    }
    await expect(needsApproval?.({ code })).rejects.toThrow("Nobody is there.");
    expect(await execute({ code })).toMatchObject({ success: false });
    expect(shop.deleted).toEqual([]);
  });
});

describe("searchToolsTool, with the AI SDK", () => {
  it("finds tools", async () => {
    server = await modelThatCalls({ name: "search_tools", arguments: { query: "photo of an order" } });
    const tools = { search_tools: searchToolsTool(agent, { limit: 1 }) };
    const { steps } = await generateText({ model: model(), prompt: "?", tools, stopWhen: isStepCount(3) });
    const output = steps[0]?.toolResults[0]?.output;
    expect(output).toContain("photo(input: { id: number");
    expect(output).not.toContain("find_order");
  });
});
