import type {
  CodeGenerator,
  GeneratedCode,
  GenerateRequest,
  GenerationRefused,
  RunOutcome,
  ToolDefinition,
} from "@cem/core";
import { describe, expect, it } from "vitest";
import { add, checker, MemorySandbox, outcome, settings } from "../fixtures/stages.ts";
import { createPipeline } from "./pipeline.ts";
import type { PipelineSettings } from "./index.ts";

const multiply: ToolDefinition = {
  ...add,
  name: "multiply",
  server: "products",
  module: "./servers/products/index.ts",
};
const power: ToolDefinition = {
  ...add,
  name: "power",
  server: "powers",
  module: "./servers/powers/index.ts",
};
const usage = { model: "m", requests: 1, inputTokens: 100, outputTokens: 10 };
const completed = (value: unknown): RunOutcome => outcome({ status: "completed", value });
const threw = outcome({ status: "failed", kind: "exception", error: { name: "E", message: "raise it" } });

type Reply = string | GenerationRefused;

/** A model that answers in turn, and may be told of one tool alone. */
function start(replies: Reply[], outcomes: RunOutcome[], more: Partial<PipelineSettings> = {}) {
  const requests: GenerateRequest[] = [];
  const generator: CodeGenerator = {
    specificationVersion: "v1",
    toolBudget: { tokens: 0, describe: () => "1" },
    async generate(request): Promise<GeneratedCode | GenerationRefused> {
      requests.push({ ...request, feedback: [...(request.feedback ?? [])] });
      const reply = replies[requests.length - 1] ?? "";
      return typeof reply === "string"
        ? { status: "generated", code: reply, origin: "llm", uses: [], usage }
        : { ...reply, usage };
    },
  };
  const sandbox = new MemorySandbox(({ code }) => outcomes[sandbox.requests.length - 1] ?? completed(code));
  const stages: PipelineSettings = {
    ...settings(sandbox),
    catalog: {
      specificationVersion: "v1",
      list: async () => ({
        servers: [{ name: "calculator", description: "", kind: "local", tools: [add, multiply, power] }],
        problems: [],
        version: "1",
      }),
    },
    selector: {
      specificationVersion: "v1",
      select: async () => ({ selected: [{ tool: add, score: 1, reason: "" }], nearest: [] }),
      search: async ({ task }) => (task.includes("raise") ? [{ tool: power, score: 0.5, reason: "" }] : []),
    },
    generator,
    ...more,
  };
  return { agent: createPipeline(stages), requests, sandbox };
}

const cannot: GenerationRefused = {
  status: "refused",
  origin: "llm",
  steps: [
    { step: "x", reason: "no-tool", hint: "Missing for this task: a scale." },
    { step: "x", reason: "no-tool", hint: "And a table." },
  ],
};
const offeredIn = ({ tools, otherTools = [] }: GenerateRequest) =>
  [...tools, ...otherTools].map(({ name }) => name);

describe("a repair", () => {
  it("is offered a tool that the code named and the model was not told of", async () => {
    const typeChecker = checker((code) =>
      code.includes("multiply")
        ? [{ rule: "unknown-name", severity: "error", message: "multiply is not defined." }]
        : [],
    );
    const { agent, requests } = start(["return multiply({}) || 1;", "return 8;"], [], { typeChecker });
    expect(await agent.executeTask("x")).toMatchObject({ status: "success", attempts: 2 });
    expect(requests.map(offeredIn)).toEqual([["add"], ["add", "multiply"]]);
    expect(requests[1]?.feedback?.[0]?.addedTools).toEqual(["products.multiply"]);
  });

  it("is offered what the words of the error find, and nothing where they find nothing", async () => {
    const { agent, requests } = start(["return 1;", "return 2;"], [threw]);
    await agent.executeTask("x");
    expect(requests.map(offeredIn)).toEqual([["add"], ["add", "power"]]);
    const other = outcome({ status: "failed", kind: "exception", error: { name: "E", message: "no" } });
    const without = start(["return 1;", "return 2;"], [other]);
    await without.agent.executeTask("x");
    expect(without.requests.map(offeredIn)).toEqual([["add"], ["add"]]);
    expect(without.requests[1]?.feedback?.[0]).not.toHaveProperty("addedTools");
  });

  it("is tried where the code returned nothing though the task asks for a value", async () => {
    const { agent, requests } = start(["return null;", "return 8;"], [completed(null), completed(8)]);
    const result = await agent.executeTask("How many are there?");
    expect(result).toMatchObject({ status: "success", value: 8, attempts: 2, notes: undefined });
    expect(requests[1]?.feedback).toMatchObject([{ code: "return null;", returnedNothing: true }]);
    const write = start(["return null;"], [completed(null)]);
    expect(await write.agent.executeTask("Write 1 to a.txt")).toMatchObject({
      status: "success",
      attempts: 1,
    });
  });

  it("leaves a run without a result as it was where what was to mend it fails", async () => {
    const { agent } = start(["return null;", "throw 1;", "throw 2;"], [completed(null), threw, threw]);
    const result = await agent.executeTask("List them");
    expect(result).toMatchObject({ status: "success", value: null, code: "return null;", error: null });
    expect(result.notes).toEqual([
      "The code returned nothing, and what was to mend it failed: The code threw E: raise it",
    ]);
  });

  it("passes on why a model could not mend what ran, without saying that nothing was run", async () => {
    const { agent } = start(["return 1;", cannot, cannot], [threw]);
    const result = await agent.executeTask("x");
    expect(result).toMatchObject({ status: "error", origin: "llm", error: { code: "CODE_THREW" } });
    expect(result.notes).toEqual(["The code was not mended: Missing for this task: a scale. And a table."]);
    const empty = start(["return null;", cannot, cannot], [completed(null)]);
    const kept = await empty.agent.executeTask("List them");
    expect(kept).toMatchObject({ status: "success", value: null });
    expect(kept.notes).toEqual(["The code was not mended: Missing for this task: a scale. And a table."]);
  });

  it("is given the warnings of the type check with a run that failed", async () => {
    const warning = {
      rule: "unknown-member",
      severity: "warning",
      message: "c has no date.",
      line: 1,
    } as const;
    const { agent, requests } = start(["return 1;", "return 2;"], [threw], {
      typeChecker: checker(() => [warning]),
    });
    const result = await agent.executeTask("x");
    expect(requests[1]?.feedback).toMatchObject([{ error: { code: "CODE_THREW" }, findings: [warning] }]);
    expect(result.notes).toEqual(["Line 1: c has no date."]);
  });

  it("has a model's program end with what it computes, and given code not", async () => {
    const { agent, sandbox } = start(["const sum = 1 + 1;"], []);
    const result = await agent.executeTask("x");
    expect(sandbox.requests[0]?.code).toBe("const sum = 1 + 1;\nexport default sum;\n");
    expect(result.notes).toEqual(["Added to the code: export default sum;"]);
    await agent.executeCode("const sum = 1 + 1;");
    expect(sandbox.requests[1]?.code).toBe("const sum = 1 + 1;");
  });

  it("is not asked for where a checked call is run without a check of its types", async () => {
    const typeChecker = checker(() => [{ rule: "t", severity: "error", message: "no" }]);
    const { generator, ...others } = settings(new MemorySandbox(() => completed(8)));
    const call: GeneratedCode = { status: "generated", code: "1;", origin: "llm", uses: [], isChecked: true };
    const agent = createPipeline({
      ...others,
      typeChecker,
      generator: { ...generator, generate: async () => call },
    });
    expect(await agent.executeTask("x")).toMatchObject({ status: "success", value: 8 });
    expect(typeChecker.checked).toEqual([]);
    expect(await agent.executeTask("x", { typeCheck: "before" })).toMatchObject({ status: "refused" });
  });
});
