import OpenAI from "openai";
import { ResponsesToolRunner } from "openai/helpers/responses-tool-runner";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import type { ChatServer } from "../../codegen/fixtures/chat-server.ts";
import { modelThatCalls, modelThatRuns, openShop, PNG, PROGRAMS } from "../fixtures/shop.ts";
import type { ApprovedCodeOptions } from "./index.ts";
import { executeCodeFunction, executeCodeTool, searchToolsFunction, searchToolsTool } from "./openai.ts";

const shop = openShop();
const { agent } = shop;
let server: ChatServer;

afterEach(() => server.close());
afterAll(() => shop.close());

function client(): OpenAI {
  return new OpenAI({ baseURL: `${server.origin}/v1`, apiKey: "none", maxRetries: 0 });
}

const user = { role: "user", content: "What are orders 1 to 3 worth together?" } as const;

/** The model's input with the request, as text. */
function sent(at: number): string {
  const { messages, input } = server.requests[at]?.body ?? {};
  return JSON.stringify(messages ?? input);
}

describe("executeCodeTool, with chat.completions.runTools", () => {
  it.each([false, true])("runs code and passes the value on, streamed: %s", async (stream) => {
    server = await modelThatRuns(PROGRAMS.total);
    const tools = [await executeCodeTool(agent), searchToolsTool(agent)];
    const body = { model: "gpt-5", messages: [user], tools };
    const { chat } = client();
    const runner = stream
      ? chat.completions.runTools({ ...body, stream: true })
      : chat.completions.runTools(body);
    expect(await runner.finalContent()).toBe("Done.");
    expect(sent(1)).toContain('\\"result\\":60');
  });

  it("ends the run when the runner is aborted", async () => {
    server = await modelThatRuns(PROGRAMS.wait);
    const tools = [await executeCodeTool(agent)];
    const runner = client().chat.completions.runTools({ model: "gpt-5", messages: [user], tools });
    const ended = runner.done().catch((error: unknown) => error);
    await shop.waiting();
    runner.abort();
    expect(String(await ended)).toMatch(/abort/iu);
  });

  it.each([
    [{ program: "return 1" }, "The code is empty"],
    ['{"code":', "JSON"],
    ["", "JSON"],
  ])("tells the model of arguments that are none: %j", async (given, answer) => {
    server = await modelThatCalls({ name: "execute_code", arguments: given });
    const tools = [await executeCodeTool(agent)];
    const runner = client().chat.completions.runTools({ model: "gpt-5", messages: [user], tools });
    expect(await runner.finalContent()).toBe("Done.");
    expect(sent(1)).toContain(answer);
  });
});

describe("needsApproval, which openai has no means for", () => {
  it.each([executeCodeTool, executeCodeFunction])("is refused by $name", async (make) => {
    server = await modelThatRuns();
    const options: ApprovedCodeOptions = { needsApproval: "destructive" };
    // @ts-expect-error: nor does it compile.
    const made = make(agent, options);
    await expect(made).rejects.toMatchObject({
      code: "OPTION_INVALID",
      message: expect.stringContaining("run.onApprove"),
    });
    expect(await make(agent, { needsApproval: false })).toBeDefined();
  });
});

describe("executeCodeFunction, with ResponsesToolRunner", () => {
  it("runs code, and shows images", async () => {
    server = await modelThatRuns(PROGRAMS.total, PROGRAMS.photo);
    const runner = new ResponsesToolRunner({
      functions: [await executeCodeFunction(agent), searchToolsFunction(agent)],
    });
    const response = await runner.run(client(), { model: "gpt-5", input: "?" });
    expect(response.output_text).toBe("Done.");
    expect(sent(1)).toContain('\\"result\\":60');
    expect(sent(2)).toContain(`"image_url":"data:image/png;base64,${PNG}"`);
  });

  it("asks whom it is told to ask", async () => {
    server = await modelThatRuns(PROGRAMS.remove);
    const run = { onApprove: async () => "once" as const };
    const runner = new ResponsesToolRunner({ functions: [await executeCodeFunction(agent, { run })] });
    await runner.run(client(), { model: "gpt-5", input: "?" });
    expect(shop.deleted).toEqual([7]);
  });

  it("finds tools", async () => {
    server = await modelThatCalls({ name: "search_tools", arguments: { query: "photo of an order" } });
    const runner = new ResponsesToolRunner({ functions: [searchToolsFunction(agent)] });
    await runner.run(client(), { model: "gpt-5", input: "?" });
    expect(sent(1)).toContain("photo(input: { id: number");
  });
});
