import { Mastra } from "@mastra/core";
import { Agent } from "@mastra/core/agent";
import { InMemoryStore } from "@mastra/core/storage";
import type { ToolsInput } from "@mastra/core/agent";
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
import { executeCodeTool, searchToolsTool } from "./mastra.ts";

const shop = openShop();
const { agent } = shop;
let server: ChatServer;

afterEach(() => server.close());
afterAll(() => shop.close());

/** An agent of Mastra, with a store for runs that wait for a person. */
function clerkWith(tools: ToolsInput): Agent {
  const clerk = new Agent({
    id: "clerk",
    name: "Clerk",
    instructions: "You work in a shop.",
    model: { providerId: "local", modelId: "gpt-5", url: `${server.origin}/v1`, apiKey: "none" },
    tools,
  });
  const mastra = new Mastra({ agents: { clerk }, storage: new InMemoryStore(), logger: false });
  return mastra.getAgent("clerk");
}

function sent(at: number): string {
  return JSON.stringify(server.requests[at]?.body.messages);
}

describe("executeCodeTool, with Mastra", () => {
  it("runs code and passes the value on", async () => {
    server = await modelThatRuns(PROGRAMS.total);
    const { text } = await clerkWith({ execute_code: await executeCodeTool(agent) }).generate("?");
    expect(text).toBe("Done.");
    expect(sent(1)).toContain('\\"result\\":60');
  });

  it("gives images to the framework as media", async () => {
    server = await modelThatRuns(PROGRAMS.photo);
    const { text } = await clerkWith({ execute_code: await executeCodeTool(agent) }).generate("?");
    expect(text).toBe("Done.");
    expect(sent(1)).toContain(PNG);
  });

  it.each([true, false])("suspends the run for an approval, approved: %s", async (approved) => {
    server = await modelThatRuns(PROGRAMS.remove);
    const tools = { execute_code: await executeCodeTool(agent, { needsApproval: "destructive" }) };
    const clerk = clerkWith(tools);
    const first = await clerk.generate("Delete order 7.");
    expect(first.finishReason).toBe("suspended");
    expect(shop.deleted).toEqual([]);
    const { runId = "", suspendPayload } = first;
    const answer = { runId, toolCallId: (suspendPayload as { toolCallId: string }).toolCallId };
    const second = approved
      ? await clerk.approveToolCallGenerate(answer)
      : await clerk.declineToolCallGenerate(answer);
    expect(second.text).toBe("Done.");
    expect(shop.deleted.splice(0)).toEqual(approved ? [7] : []);
  });

  it("takes the answer about one call not for another of the same code", async () => {
    const call = { name: "execute_code", arguments: { code: PROGRAMS.remove } };
    server = await modelThatCallsAtOnce(call, call);
    let asked = 0;
    const tools = { execute_code: await executeCodeTool(agent, { needsApproval: () => ++asked >= 2 }) };
    const first = await clerkWith(tools).generate("?");
    expect(first.finishReason).toBe("suspended");
    expect(asked).toBe(2);
    expect(shop.deleted).toEqual([]);
  });

  it("ends the run when it is aborted", async () => {
    server = await modelThatRuns(PROGRAMS.wait);
    const controller = new AbortController();
    const ended = clerkWith({ execute_code: await executeCodeTool(agent) })
      .generate("?", { abortSignal: controller.signal })
      .catch((error: unknown) => error);
    await shop.waiting();
    controller.abort(new Error("The user went away."));
    await ended;
    expect(server.requests).toHaveLength(1);
  });
});

describe("searchToolsTool, with Mastra", () => {
  it("finds tools", async () => {
    server = await modelThatCalls({ name: "search_tools", arguments: { query: "photo of an order" } });
    await clerkWith({ search_tools: searchToolsTool(agent) }).generate("?");
    expect(sent(1)).toContain("photo(input: { id: number");
  });
});
