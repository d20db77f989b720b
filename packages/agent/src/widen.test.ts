import type { CodeGenerator, GenerateRequest, ToolDefinition } from "@cem/core";
import { describe, expect, it } from "vitest";
import { add, MemorySandbox, outcome, settings } from "../fixtures/stages.ts";
import type { PipelineSettings } from "./index.ts";
import { createPipeline } from "./pipeline.ts";

const usage = { model: "m", requests: 1, inputTokens: 100, outputTokens: 10, cost: 0.5 };
const missing = "Missing for this task: a tool that multiplies.";

function tool(name: string): ToolDefinition {
  return { ...add, name, signature: `${name}(input: {}): Promise<number>` };
}

/** A model that refuses until it has the tool; the first of the selected tools is `add` alone. */
function pipeline(tools: ToolDefinition[], wanted: string, origin: "llm" | "rules" = "llm") {
  const requests: GenerateRequest[] = [];
  const searched: string[] = [];
  const generator: CodeGenerator = {
    specificationVersion: "v1",
    async generate(request) {
      requests.push(request);
      return request.tools.some(({ name }) => name === wanted)
        ? { status: "generated", code: "program", origin, uses: [], usage }
        : { status: "refused", origin, steps: [{ step: "x", reason: "no-tool", hint: missing }], usage };
    },
  };
  const stages: PipelineSettings = {
    ...settings(new MemorySandbox(() => outcome({ status: "completed", value: 8 }))),
    catalog: {
      specificationVersion: "v1",
      list: async () => ({
        servers: [{ name: "calculator", description: "", kind: "local", tools }],
        problems: [],
        version: "1",
      }),
    },
    selector: {
      specificationVersion: "v1",
      select: async () => ({ selected: [{ tool: add, score: 1, reason: "" }], nearest: [] }),
      async search({ task, tools: all, limit }) {
        searched.push(task);
        const found = all.filter(({ name }) => task.includes(name));
        return found.slice(0, limit).map((one) => ({ tool: one, score: 0.5, reason: "" }));
      },
    },
    generator,
  };
  return { agent: createPipeline(stages), requests, searched };
}

describe("a model that lacks a tool", () => {
  it("is asked once more with all tools where they are few, and all costs count", async () => {
    const { agent, requests } = pipeline([add, tool("multiply"), tool("divide")], "multiply");
    const result = await agent.executeTask("x");
    expect(result).toMatchObject({ status: "success", value: 8, attempts: 1, usage: { requests: 2 } });
    expect(requests.map(({ tools }) => tools.map(({ name }) => name))).toEqual([
      ["add"],
      ["add", "multiply", "divide"],
    ]);
    expect(result.selectedTools).toHaveLength(3);
  });

  it("is given what its own words find where they are many", async () => {
    const others = Array.from({ length: 100 }, (_, index) => tool(`other_${index}`));
    const { agent, requests, searched } = pipeline([add, ...others, tool("multiplies")], "multiplies");
    expect(await agent.executeTask("x")).toMatchObject({ status: "success" });
    expect(searched).toEqual([missing, "x"]);
    expect(requests[1]?.tools.map(({ name }) => name)).toEqual(["add", "multiplies"]);
  });

  it("is asked no third time, and the refusal is its own", async () => {
    const { agent, requests } = pipeline([add, tool("multiply")], "none");
    const result = await agent.executeTask("x");
    expect(result).toMatchObject({ status: "refused", usage: { requests: 2 } });
    expect(result.error?.message).toBe(`${missing} Nothing was run.`);
    expect(requests).toHaveLength(2);
  });

  it("is not asked again where there are no others, and rules never are", async () => {
    const alone = pipeline([add], "none");
    expect(await alone.agent.executeTask("x")).toMatchObject({ status: "refused" });
    const rules = pipeline([add, tool("multiply")], "multiply", "rules");
    expect(await rules.agent.executeTask("x")).toMatchObject({ status: "refused" });
    expect([alone.requests.length, rules.requests.length]).toEqual([1, 1]);
  });
});
