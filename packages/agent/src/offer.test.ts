import type { CodeGenerator, GenerateRequest, ToolDefinition } from "@cem/core";
import { describe, expect, it } from "vitest";
import { add, MemorySandbox, outcome, settings } from "../fixtures/stages.ts";
import type { PipelineSettings } from "./index.ts";
import { createPipeline } from "./pipeline.ts";
import type { ToolBudget } from "./candidate-tools.ts";

const usage = { model: "m", requests: 1, inputTokens: 100, outputTokens: 10, cost: 0.5 };
const missing = "Missing for this task: a tool that multiplies.";
/** Enough for ten tools: each costs what its line has, and one token for the end of it. */
const toolBudget: ToolBudget = { tokens: 20, describe: () => "1" };

function tool(name: string, server = "calculator"): ToolDefinition {
  return { ...add, server, name, signature: `${name}(input: {}): Promise<number>` };
}

const others = Array.from({ length: 100 }, (_, index) => tool(`other_${index}`, "others"));

interface Model {
  origin?: "llm" | "rules";
  budget?: ToolBudget | undefined;
  /** The score of a tool that the task names. Default: 0.5. */
  scoreOf?: ((name: string) => number) | undefined;
}

/** A generator that refuses until it has the tool; the first of the selected tools is `add` alone. */
function pipeline(tools: ToolDefinition[], wanted: string, model: Model = {}) {
  const { origin = "llm", scoreOf = () => 0.5 } = model;
  const budget = "budget" in model ? model.budget : toolBudget;
  const requests: GenerateRequest[] = [];
  const searched: string[] = [];
  const generator: CodeGenerator = {
    specificationVersion: "v1",
    toolBudget: origin === "llm" ? budget : undefined,
    async generate(request) {
      requests.push(request);
      const uses = offeredIn(request).filter(({ name }) => name === wanted);
      return uses.length > 0
        ? { status: "generated", code: "program", origin, uses, usage }
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
        const words = task.split(/[ .]/u);
        const found = all.filter(({ name }) => words.includes(name));
        return found
          .map((one) => ({ tool: one, score: scoreOf(one.name), reason: "" }))
          .toSorted((one, other) => other.score - one.score)
          .slice(0, limit);
      },
    },
    generator,
  };
  return { agent: createPipeline(stages), requests, searched };
}

function offeredIn({ tools, otherTools = [] }: GenerateRequest): ToolDefinition[] {
  return [...tools, ...otherTools];
}

function namesIn(request: GenerateRequest | undefined): string[] {
  return request === undefined ? [] : offeredIn(request).map(({ name }) => name);
}

describe("what a model is offered", () => {
  it("is a whole catalog that its budget of tokens holds, and what it used is selected", async () => {
    const { agent, requests } = pipeline([add, tool("multiply"), tool("divide")], "multiply");
    const result = await agent.executeTask("x");
    expect(result).toMatchObject({ status: "success", usage: { requests: 1 } });
    expect(requests.map(namesIn)).toEqual([["add", "multiply", "divide"]]);
    expect(requests[0]?.tools).toEqual([add]);
    expect(result.selectedTools.map(({ tool: name }) => name)).toEqual(["add", "multiply"]);
    expect(result.selectionNotes).toEqual(["the model is told of 3"]);
  });

  it("is what is closest to the task and then the rest of its servers, as far as the tokens reach", async () => {
    const { agent, requests } = pipeline([add, ...others, tool("sub"), tool("far", "else")], "none");
    await agent.executeTask("x other_50 and other_7");
    const next = others.slice(0, 6).map(({ name }) => name);
    expect(namesIn(requests[0])).toEqual(["add", "other_7", "other_50", "sub", ...next]);
  });

  describe("of a catalog that takes many tokens", () => {
    // 100 tokens each, so that 20 are what is spent on tools that are not close.
    const budget: ToolBudget = { tokens: 6_000, describe: () => "a ".repeat(49) };
    const task = [add, ...others].map(({ name }) => name).join(" ");
    const offered = async (scoreOf: Model["scoreOf"]): Promise<string[]> => {
      const { agent, requests } = pipeline([add, ...others], "none", { budget, scoreOf });
      await agent.executeTask(task);
      return namesIn(requests[0]).slice(1);
    };

    it("is all that is close to the task", async () => {
      const names = await offered((name) => (Number(name.slice(6)) < 40 ? 0.4 : 0.1));
      expect(names).toEqual(others.slice(0, 40).map(({ name }) => name));
    });

    it("is what comes next too, where little is close", async () => {
      const names = await offered((name) => (name === "other_70" ? 0.9 : 0.4));
      expect(names[0]).toBe("other_70");
      expect(names.length).toBeGreaterThan(6);
      expect(names.length).toBeLessThan(21);
    });

    it("is few where a selected tool is what the task is about", async () => {
      expect((await offered((name) => (name === "add" ? 0.9 : 0.05))).length).toBeLessThan(21);
    });

    it("has the names of what comes after that", async () => {
      const { agent, requests } = pipeline([add, ...others], "none", { budget });
      const result = await agent.executeTask("x other_50");
      const [first, second] = requests;
      const isTold = new Set([first?.tools, first?.otherTools, first?.namedTools].flat());
      expect(isTold.size).toBe(79);
      expect(namesIn(first).length).toBeLessThan(21);
      expect(namesIn(second).length).toBeGreaterThan(namesIn(first).length + 20);
      expect(result.selectionNotes?.[0]).toMatch(/^the model is told of \d+, and of \d+ by name$/u);
    });
  });

  it("has names even where what is close takes all tokens", async () => {
    const budget: ToolBudget = { tokens: 3_000, describe: () => "a ".repeat(49) };
    const { agent, requests } = pipeline([add, ...others], "none", { budget });
    await agent.executeTask([add, ...others].map(({ name }) => name).join(" "));
    expect(namesIn(requests[0]).length).toBeGreaterThan(20);
    expect(requests[0]?.namedTools?.length).toBeGreaterThan(20);
  });

  it("leaves out what is too large, and not what comes after it", async () => {
    const large = { ...tool("large"), description: "x".repeat(50) };
    const budget: ToolBudget = {
      tokens: 20,
      describe: ({ description }) => description.replace("Adds two numbers.", "1"),
    };
    const { agent, requests } = pipeline([add, large, tool("sub")], "none", { budget });
    await agent.executeTask("x");
    expect(namesIn(requests[0])).toEqual(["add", "sub"]);
  });

  it("is the whole of a small catalog for rules", async () => {
    const { agent, requests } = pipeline([add, tool("multiply")], "multiply", { origin: "rules" });
    expect(await agent.executeTask("x")).toMatchObject({ status: "success", origin: "rules" });
    expect(requests.map(namesIn)).toEqual([["add", "multiply"]]);
    expect(requests[0]).toMatchObject({ facts: undefined });
  });
});

describe("a model that lacks a tool", () => {
  it("is asked once more with what its own words find, and all costs count", async () => {
    const { agent, requests, searched } = pipeline([add, ...others, tool("multiplies", "far")], "multiplies");
    const result = await agent.executeTask("x");
    expect(result).toMatchObject({ status: "success", value: 8, attempts: 1, usage: { requests: 2 } });
    expect(searched).toEqual(["x", missing, "x"]);
    expect(namesIn(requests[0])).not.toContain("multiplies");
    expect(namesIn(requests[1])).toContain("multiplies");
  });

  it("is asked no third time, and the refusal is its own", async () => {
    const { agent, requests } = pipeline([add, ...others], "none");
    const result = await agent.executeTask("x");
    expect(result).toMatchObject({ status: "refused", origin: "llm", code: "", usage: { requests: 2 } });
    expect(result.error?.message).toBe(`${missing} Nothing was run.`);
    expect(requests).toHaveLength(2);
  });

  it("is not asked again where there are no others", async () => {
    const { agent, requests } = pipeline([add, tool("multiply")], "none");
    expect(await agent.executeTask("x")).toMatchObject({ status: "refused", origin: "llm" });
    expect(requests).toHaveLength(1);
  });

  it("is asked once with a whole small catalog where it does not say what it can be told", async () => {
    const { agent, requests } = pipeline([add, tool("multiply")], "multiply", { budget: undefined });
    expect(await agent.executeTask("x")).toMatchObject({ status: "success", usage: { requests: 1 } });
    expect(requests.map(namesIn)).toEqual([["add", "multiply"]]);
  });
});
