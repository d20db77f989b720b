import { Agent, OpenAIProvider, Runner, RunState } from "@openai/agents";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import type { ChatServer } from "../../codegen/fixtures/chat-server.ts";
import { modelThatCalls, modelThatRuns, openShop, PNG, PROGRAMS } from "../fixtures/shop.ts";
import { executeCodeTool, searchToolsTool } from "./openai-agents.ts";

const shop = openShop();
const { agent } = shop;
let server: ChatServer;

afterEach(() => server.close());
afterAll(() => shop.close());

function runner(): Runner {
  const modelProvider = new OpenAIProvider({
    baseURL: `${server.origin}/v1`,
    apiKey: "none",
    useResponses: true,
  });
  return new Runner({ modelProvider, tracingDisabled: true });
}

function sent(at: number): string {
  return JSON.stringify(server.requests[at]?.body.input);
}

describe("executeCodeTool, with @openai/agents", () => {
  it("runs code, passes the value on, and shows images", async () => {
    server = await modelThatRuns(PROGRAMS.total, PROGRAMS.photo);
    const clerk = new Agent({ name: "Clerk", model: "gpt-5", tools: [await executeCodeTool(agent)] });
    const { finalOutput } = await runner().run(clerk, "?");
    expect(finalOutput).toBe("Done.");
    expect(sent(1)).toContain('\\"result\\":60');
    expect(sent(2)).toContain(`data:image/png;base64,${PNG}`);
  });

  it("interrupts the run for an approval, also across processes", async () => {
    const tools = [await executeCodeTool(agent, { needsApproval: "destructive" })];
    const clerk = new Agent({ name: "Clerk", model: "gpt-5", tools });
    for (const decision of ["reject", "approve"] as const) {
      await server?.close();
      server = await modelThatRuns(PROGRAMS.remove);
      const first = await runner().run(clerk, "Delete order 7.");
      expect(first.interruptions).toHaveLength(1);
      expect(shop.deleted).toEqual([]);
      const state = await RunState.fromString(clerk, first.state.toString());
      const [interruption] = state.getInterruptions();
      if (interruption !== undefined) state[decision](interruption);
      const second = await runner().run(clerk, state);
      expect(second.finalOutput).toBe("Done.");
      expect(shop.deleted.splice(0)).toEqual(decision === "approve" ? [7] : []);
    }
  });

  it("goes by the first answer for each call", async () => {
    server = await modelThatRuns(PROGRAMS.remove);
    let asked = 0;
    const tools = [await executeCodeTool(agent, { needsApproval: () => ++asked >= 2 })];
    await runner().run(new Agent({ name: "Clerk", model: "gpt-5", tools }), "?");
    expect(shop.deleted).toEqual([]);
    expect(sent(1)).toContain("delete_order was not called");
  });

  it.each([undefined, "destructive"] as const)(
    "tells the model of arguments that are none, needsApproval: %s",
    async (needsApproval) => {
      const broken = needsApproval === undefined ? ['{"code":', ""] : [];
      const slips = ["null", '{"kode":1}', ...broken];
      server = await modelThatCalls(...slips.map((text) => ({ name: "execute_code", arguments: text })));
      const tools = [await executeCodeTool(agent, { needsApproval })];
      const { finalOutput } = await runner().run(new Agent({ name: "Clerk", model: "gpt-5", tools }), "?");
      expect(finalOutput).toBe("Done.");
    },
  );

  it("ends the run when it is aborted", async () => {
    server = await modelThatRuns(PROGRAMS.wait);
    const clerk = new Agent({ name: "Clerk", model: "gpt-5", tools: [await executeCodeTool(agent)] });
    const controller = new AbortController();
    const ended = runner()
      .run(clerk, "?", { signal: controller.signal })
      .catch((error: unknown) => error);
    await shop.waiting();
    controller.abort(new Error("The user went away."));
    expect(String(await ended)).toMatch(/went away|abort/iu);
    expect(server.requests).toHaveLength(1);
  });
});

describe("searchToolsTool, with @openai/agents", () => {
  it("finds tools", async () => {
    server = await modelThatCalls({ name: "search_tools", arguments: { query: "photo of an order" } });
    const clerk = new Agent({ name: "Clerk", model: "gpt-5", tools: [searchToolsTool(agent)] });
    await runner().run(clerk, "?");
    expect(sent(1)).toContain("photo(input: { id: number");
  });
});
