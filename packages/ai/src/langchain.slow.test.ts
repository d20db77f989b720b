import { ToolMessage } from "@langchain/core/messages";
import { Command, INTERRUPT, MemorySaver } from "@langchain/langgraph";
import { ChatOpenAI } from "@langchain/openai";
import { createAgent } from "langchain";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import type { ChatServer } from "../../codegen/fixtures/chat-server.ts";
import { modelThatCalls, modelThatRuns, openShop, PNG, PROGRAMS } from "../fixtures/shop.ts";
import { executeCodeTool, searchToolsTool } from "./langchain.ts";

const shop = openShop();
const { agent } = shop;
let server: ChatServer;

afterEach(() => server.close());
afterAll(() => shop.close());

function model(useResponsesApi = false): ChatOpenAI {
  return new ChatOpenAI({
    model: "gpt-5",
    apiKey: "none",
    useResponsesApi,
    maxRetries: 0,
    configuration: { baseURL: `${server.origin}/v1` },
  });
}

const messages = [{ role: "user", content: "?" }];

function sent(at: number): string {
  const { messages: sentMessages, input } = server.requests[at]?.body ?? {};
  return JSON.stringify(sentMessages ?? input);
}

describe("executeCodeTool, with LangChain", () => {
  it("runs code and passes the value on, with the output as artifact", async () => {
    server = await modelThatRuns(PROGRAMS.total);
    const clerk = createAgent({ model: model(), tools: [await executeCodeTool(agent)] });
    const { messages: all } = await clerk.invoke({ messages });
    const answer = all.find((message) => ToolMessage.isInstance(message));
    expect(answer?.artifact).toMatchObject({ success: true, result: 60 });
    expect(sent(1)).toContain('\\"result\\":60');
  });

  it("shows images to a model that takes them from a tool", async () => {
    server = await modelThatRuns(PROGRAMS.photo);
    const clerk = createAgent({ model: model(true), tools: [await executeCodeTool(agent)] });
    await clerk.invoke({ messages });
    expect(sent(1)).toContain(`data:image/png;base64,${PNG}`);
  });

  it.each([
    [{ type: "reject", message: "Not this one." }, []],
    [{ type: "approve" }, [7]],
    [
      {
        type: "edit",
        editedAction: { name: "execute_code", args: { code: PROGRAMS.remove.replace("7", "9") } },
      },
      [9],
    ],
    [{ type: "nonsense" }, []],
  ])("interrupts the graph for an approval: %j", async (decision, deleted) => {
    server = await modelThatRuns(PROGRAMS.remove);
    const tools = [await executeCodeTool(agent, { needsApproval: "destructive" })];
    const clerk = createAgent({ model: model(), tools, checkpointer: new MemorySaver() });
    const thread = { configurable: { thread_id: "1" } };
    const first = await clerk.invoke({ messages }, thread);
    expect(JSON.stringify(Reflect.get(first, INTERRUPT))).toContain("delete_order({ id: 7 })");
    expect(shop.deleted).toEqual([]);
    await clerk.invoke(new Command({ resume: { decisions: [decision] } }), thread);
    expect(shop.deleted.splice(0)).toEqual(deleted);
  });

  it("ends the run when it is aborted", async () => {
    server = await modelThatRuns(PROGRAMS.wait);
    const clerk = createAgent({ model: model(), tools: [await executeCodeTool(agent)] });
    const controller = new AbortController();
    const ended = clerk.invoke({ messages }, { signal: controller.signal }).catch((error: unknown) => error);
    await shop.waiting();
    controller.abort(new Error("The user went away."));
    expect(String(await ended)).toMatch(/went away|abort/iu);
    expect(server.requests).toHaveLength(1);
  });
});

describe("searchToolsTool, with LangChain", () => {
  it("finds tools", async () => {
    server = await modelThatCalls({ name: "search_tools", arguments: { query: "photo of an order" } });
    const clerk = createAgent({ model: model(), tools: [searchToolsTool(agent)] });
    await clerk.invoke({ messages });
    expect(sent(1)).toContain("photo(input: { id: number");
  });
});
