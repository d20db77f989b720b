import { ToolMessage } from "@langchain/core/messages";
import {
  Annotation,
  Command,
  INTERRUPT,
  MemorySaver,
  MessagesAnnotation,
  Send,
  StateGraph,
} from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import { ChatOpenAI } from "@langchain/openai";
import { createAgent, createMiddleware } from "langchain";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import type { ChatServer } from "../../codegen/fixtures/chat-server.ts";
import {
  modelThatCalls,
  modelThatCallsAtOnce,
  modelThatRuns,
  openShop,
  PNG,
  PROGRAMS,
} from "../fixtures/shop.ts";
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

const thread = { configurable: { thread_id: "1" } };
const refusal = new Command({ resume: { decisions: [{ type: "reject", message: "No, never." }] } });

function removal(id: number): string {
  return PROGRAMS.remove.replace("7", `${id}`);
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
        editedAction: { name: "execute_code", args: { code: removal(9) } },
      },
      [9],
    ],
    [{ type: "nonsense" }, []],
  ])("interrupts the graph for an approval: %j", async (decision, deleted) => {
    server = await modelThatRuns(PROGRAMS.remove);
    const tools = [await executeCodeTool(agent, { needsApproval: "destructive" })];
    const clerk = createAgent({ model: model(), tools, checkpointer: new MemorySaver() });
    const first = await clerk.invoke({ messages }, thread);
    expect(JSON.stringify(Reflect.get(first, INTERRUPT))).toContain("delete_order({ id: 7 })");
    expect(shop.deleted).toEqual([]);
    await clerk.invoke(new Command({ resume: { decisions: [decision] } }), thread);
    expect(shop.deleted.splice(0)).toEqual(deleted);
  });

  it("goes by the first answer for each call", async () => {
    server = await modelThatRuns(PROGRAMS.remove);
    let asked = 0;
    const tools = [await executeCodeTool(agent, { needsApproval: () => ++asked === 1 })];
    const clerk = createAgent({ model: model(), tools, checkpointer: new MemorySaver() });
    await clerk.invoke({ messages }, thread);
    const { messages: all } = await clerk.invoke(refusal, thread);
    expect(all.find((message) => ToolMessage.isInstance(message))?.artifact).toMatchObject({
      error: "No, never.",
    });
    expect(asked).toBe(1);
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

describe("approvals of programs that wait at the same time", () => {
  const calls = [7, 8].map((id) => ({ name: "execute_code", arguments: { code: removal(id) } }));
  const reading = { name: "execute_code", arguments: { code: PROGRAMS.total } };
  const yes = { type: "approve" };
  const no = { type: "reject" };

  /** The same model with langchain's agent, which runs each call by itself, or with one node that runs all. */
  async function clerkOf(kind: string) {
    server = await modelThatCallsAtOnce(...calls, reading);
    const tools = [await executeCodeTool(agent, { needsApproval: "destructive" })];
    const checkpointer = new MemorySaver();
    if (kind === "agent") return createAgent({ model: model(), tools, checkpointer });
    return new StateGraph(MessagesAnnotation)
      .addNode("model", async (state) => ({
        messages: [await model().bindTools(tools).invoke(state.messages)],
      }))
      .addNode("tools", new ToolNode(tools))
      .addEdge("__start__", "model")
      .addConditionalEdges("model", ({ messages: all }) => (all.length > 2 ? "__end__" : "tools"))
      .addEdge("tools", "model")
      .compile({ checkpointer });
  }

  describe.each(["agent", "node"])("in an %s", (kind) => {
    it.each([
      [[yes], []],
      [[yes, no], [7]],
      [[no, yes], [8]],
      [
        [yes, yes],
        [7, 8],
      ],
      [[yes, yes, yes], []],
    ])("%j", async (decisions, deleted) => {
      const clerk = await clerkOf(kind);
      const first: object = await clerk.invoke({ messages }, thread);
      const [interrupt] = Reflect.get(first, INTERRUPT) as { value: { actionRequests: object[] } }[];
      expect(interrupt?.value.actionRequests).toMatchObject(calls.map(({ arguments: args }) => ({ args })));
      expect(shop.deleted).toEqual([]);
      const second: object = await clerk.invoke(new Command({ resume: { decisions } }), thread);
      expect(Reflect.get(second, INTERRUPT)).toBeUndefined();
      expect(shop.deleted.splice(0).toSorted((a, b) => a - b)).toEqual(deleted);
    });
  });

  it("shows the code that will run, not what the message had before a middleware", async () => {
    server = await modelThatCallsAtOnce(...calls);
    const changing = createMiddleware({
      name: "changing",
      wrapToolCall: (request, handler) => {
        const { toolCall } = request;
        const args = { code: String(toolCall.args["code"]).replace(/(\d) \}/u, "1$1 }") };
        return handler({ ...request, toolCall: { ...toolCall, args } });
      },
    });
    const tools = [await executeCodeTool(agent, { needsApproval: "destructive" })];
    const checkpointer = new MemorySaver();
    const clerk = createAgent({ model: model(), tools, checkpointer, middleware: [changing] });
    const first: object = await clerk.invoke({ messages }, thread);
    const [one] = Reflect.get(first, INTERRUPT) as { id: string; value: unknown }[];
    expect(JSON.stringify(one?.value)).toContain("delete_order({ id: 17 })");
    expect(JSON.stringify(one?.value)).not.toContain("id: 7 ");
    await clerk.invoke(new Command({ resume: { decisions: [yes] } }), thread);
    expect(shop.deleted.splice(0)).toHaveLength(1);
  });

  it("takes answers by the ids of interrupts, each for its own program", async () => {
    const clerk = await clerkOf("agent");
    const first: object = await clerk.invoke({ messages }, thread);
    const [one, other] = Reflect.get(first, INTERRUPT) as { id: string }[];
    const resume = {
      [one?.id ?? ""]: { decisions: [no, yes] },
      [other?.id ?? ""]: { decisions: [yes, yes] },
    };
    await clerk.invoke(new Command({ resume }), thread);
    expect(shop.deleted.splice(0)).toEqual([8]);
  });

  it("gives one answer to one program, where a graph hides the message", async () => {
    const tool = await executeCodeTool(agent, { needsApproval: "destructive" });
    const graph = new StateGraph(Annotation.Root({}))
      .addNode("clerk", async ({ code }: { code: string }) => {
        await tool.invoke({ code });
        return {};
      })
      .addConditionalEdges("__start__", () => [7, 7].map((id) => new Send("clerk", { code: removal(id) })))
      .compile({ checkpointer: new MemorySaver() });
    await graph.invoke({}, thread);
    await graph.invoke(new Command({ resume: { decisions: [yes] } }), thread);
    expect(shop.deleted.splice(0)).toEqual([7]);
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
