import { CemError } from "@cem/core";
import type { AgentEvent, InvokeContext, ToolCall, ToolDefinition, ToolInvoker } from "@cem/core";
import { describe, expect, it, vi } from "vitest";
import { add, checker, MemorySandbox, model, outcome, settings } from "../fixtures/stages.ts";
import { createPipeline } from "./pipeline.ts";
import type { PipelineSettings } from "./stages.ts";

const completed = outcome({ status: "completed", value: 8 });
const threw = outcome({ status: "failed", kind: "exception", error: { name: "E", message: "m" } });
const down = { code: "SERVER_DOWN", message: "It does not answer.", details: {} };

function catalogOf(...tools: ToolDefinition[]): PipelineSettings["catalog"] {
  const local = { name: "calculator", description: "", kind: "local", tools } as const;
  const skill: ToolDefinition = { ...add, server: "sums", name: "sum", kind: "skill" };
  return {
    specificationVersion: "v1",
    list: async () => ({
      servers: [
        { ...local, tools },
        { name: "sums", description: "", kind: "skill", tools: [skill] },
      ],
      problems: [{ server: "calculator", file: "/broken.ts", message: "no tool" }],
      version: "1",
    }),
  };
}

/** An invoker that answers with the number of calls so far and keeps them with their context. */
function countingInvoker(): ToolInvoker & { calls: [ToolCall, InvokeContext][] } {
  const calls: [ToolCall, InvokeContext][] = [];
  return {
    specificationVersion: "v1",
    calls,
    invoke: async (call, context) => ({ ok: true, value: calls.push([call, context]) }),
  };
}

async function eventsOf(stages: PipelineSettings, task = "Add 5 and 3"): Promise<AgentEvent[]> {
  const events: AgentEvent[] = [];
  await createPipeline(stages).executeTask(task, { onEvent: (event) => events.push(event) });
  return events.filter(({ type }) => type !== "stage-started");
}

describe("discovery", () => {
  it("counts tools and skills apart", async () => {
    const catalog = catalogOf(add, { ...add, name: "sub" });
    const [discovered] = await eventsOf({ ...settings(new MemorySandbox(() => completed)), catalog });
    expect(discovered).toEqual({
      type: "discovered",
      servers: 1,
      tools: 2,
      skills: 1,
      problems: 1,
      ms: expect.any(Number),
    });
  });
});

describe("selection", () => {
  const unavailable: ToolDefinition = { ...add, name: "sub", unavailable: down };

  it("chooses from the tools that can be called", async () => {
    const offered: string[][] = [];
    const stages = settings(new MemorySandbox(() => completed));
    const [, selected] = await eventsOf({
      ...stages,
      catalog: catalogOf(add, unavailable),
      selector: {
        ...stages.selector,
        async select({ tools }) {
          offered.push(tools.map(({ name }) => name));
          return { selected: [{ tool: add, score: 1, reason: "r" }], nearest: [], notes: ["by words only"] };
        },
      },
    });
    expect(offered).toEqual([["add", "sum"]]);
    expect(selected).toEqual({
      type: "selected",
      tools: [{ server: "calculator", tool: "add", score: 1, reason: "r" }],
      available: 3,
      ms: expect.any(Number),
      notes: ["by words only"],
    });
  });

  it("names in a refusal the tools that would fit", async () => {
    const stages = settings(new MemorySandbox(() => completed), {
      generated: { status: "refused", steps: [{ step: "x", reason: "no-tool", hint: "No tool." }] },
    });
    const events = await eventsOf({
      ...stages,
      catalog: catalogOf(add, unavailable),
      selector: {
        ...stages.selector,
        select: async ({ tools }) => ({
          selected: tools
            .filter(({ name }) => name !== "sum")
            .map((tool) => ({ tool, score: 1, reason: "" })),
          nearest: tools
            .filter(({ name }) => name === "sum")
            .map((tool) => ({ tool, score: 0.1, reason: "" })),
        }),
      },
    });
    expect(events.find(({ type }) => type === "generation-refused")).toMatchObject({
      steps: [{ hint: "No tool." }, { tool: "calculator.sub", unavailable: down }],
      nearest: [{ tool: "add" }, { tool: "sum" }],
    });
    const finished = events.at(-1);
    expect(finished).toMatchObject({
      type: "finished",
      result: { status: "refused", code: "", attempts: 0, timings: { generate: expect.any(Number) } },
    });
  });
});

describe("generation", () => {
  it("gives the generator the task, the options and the progress listener", async () => {
    const { generator, requests } = model();
    const typeChecker = Object.assign(
      checker(() => []),
      { prepared: 0, prepare: () => void (typeChecker.prepared += 1) },
    );
    const events: AgentEvent[] = [];
    const agent = createPipeline({
      ...settings(new MemorySandbox(() => completed)),
      typeChecker,
      generator: {
        ...generator,
        async generate(request) {
          request.onProgress?.({ model: "m", characters: 7 });
          return { ...(await generator.generate(request)), notes: ["as written"] };
        },
      },
    });
    const result = await agent.executeTask("Add 5 and 3", {
      mode: "direct",
      context: "of yesterday",
      onEvent: (event) => events.push(event),
    });
    expect(requests).toMatchObject([
      { task: "Add 5 and 3", tools: [add], mode: "direct", context: "of yesterday", feedback: [] },
    ]);
    expect(events).toContainEqual({ type: "generating", model: "m", characters: 7 });
    expect(events.find(({ type }) => type === "generated")).toMatchObject({
      code: "program 1",
      origin: "llm",
      notes: ["as written"],
    });
    expect(typeChecker.prepared).toBe(1);
    expect(result).toMatchObject({ notes: ["as written"], attempts: 1 });
  });

  it("prepares no type checker when types are not checked", async () => {
    const { generator } = model();
    let created = 0;
    const stages = settings(new MemorySandbox(() => completed));
    const typeChecker = async () => {
      created += 1;
      return checker(() => []);
    };
    const talking: PipelineSettings["generator"] = {
      ...generator,
      generate(request) {
        request.onProgress?.({ model: "m", characters: 1 });
        return generator.generate(request);
      },
    };
    await eventsOf({ ...stages, typeChecker, typeCheck: "off", generator: talking });
    await createPipeline({ ...stages, typeChecker, generator: talking }).executeTask("x", {
      typeCheck: "off",
    });
    await createPipeline({ ...stages, typeChecker }).executeCode("1", { typeCheck: "off" });
    expect(created).toBe(0);
    await createPipeline({ ...stages, typeChecker, typeCheck: "off" }).executeCode("1", {
      typeCheck: "before",
    });
    expect(created).toBe(1);
  });

  it("gives back the last ending when a repair fails with an error of the model", async () => {
    const { generator } = model();
    let asked = 0;
    const failing = (error: Error): PipelineSettings => ({
      ...settings(new MemorySandbox(() => threw)),
      generator: {
        ...generator,
        async generate(request) {
          asked += 1;
          if (asked % 2 === 0) throw error;
          return generator.generate(request);
        },
      },
    });
    const result = await createPipeline(failing(new CemError("LLM_FAILED", "The API failed."))).executeTask(
      "x",
    );
    expect(result).toMatchObject({ error: { code: "CODE_THREW" }, notes: ["The API failed."], attempts: 1 });
    await expect(createPipeline(failing(new Error("bug"))).executeTask("x")).rejects.toThrow("bug");
  });

  it("ends a run that is cancelled while code is repaired", async () => {
    const { generator } = model();
    const controller = new AbortController();
    const stages: PipelineSettings = {
      ...settings(new MemorySandbox(() => threw)),
      generator: {
        ...generator,
        async generate(request) {
          if (request.feedback === undefined) return generator.generate(request);
          controller.abort();
          throw new CemError("LLM_FAILED", "The request was cancelled.");
        },
      },
    };
    const result = await createPipeline(stages).executeTask("x", { signal: controller.signal });
    expect(result).toMatchObject({ status: "error", error: { code: "ABORTED" } });
    expect(result.notes).toBeUndefined();
  });

  it("gives back the last ending when a repair is refused after a run, else the refusal", async () => {
    const { generator } = model();
    const stages = (refuseTypes: boolean): PipelineSettings => ({
      ...settings(new MemorySandbox(() => threw)),
      typeChecker: checker(() =>
        refuseTypes ? [{ rule: "t", severity: "error", message: "mistyped" }] : [],
      ),
      generator: {
        ...generator,
        generate: async (request) =>
          request.feedback === undefined
            ? generator.generate(request)
            : { status: "refused", steps: [{ step: "x", reason: "no-tool", hint: "No tool." }] },
      },
    });
    const codeOf = async (refuseTypes: boolean): Promise<string | undefined> =>
      (await createPipeline(stages(refuseTypes)).executeTask("x")).error?.code;
    expect([await codeOf(false), await codeOf(true)]).toEqual(["CODE_THREW", "NO_TOOL"]);
  });
});

describe("execution", () => {
  it.each([
    ["right", [], true],
    ["wrong", [{ rule: "t", severity: "error", message: "mistyped" } as const], false],
  ])("waits for the types, which are %s, of a program that is loaded", async (_, findings, mayRun) => {
    const heard: unknown[] = [];
    const loading = Promise.withResolvers<void>();
    const sandbox = new MemorySandbox(async (request) => {
      loading.resolve();
      heard.push(await request.mayRun);
      return completed;
    });
    const stages: PipelineSettings = {
      ...settings(Object.assign(sandbox, { loadsAhead: true })),
      typeChecker: {
        ...checker(() => findings),
        check: async () => {
          await loading.promise;
          return findings;
        },
      },
    };
    const onEvent = ({ type }: AgentEvent): void => void (type === "reviewed" && heard.push(type));
    const result = await createPipeline(stages).executeCode("export default 8;", { onEvent });
    expect(result.status).toBe(mayRun ? "success" : "refused");
    await expect.poll(() => heard).toEqual(["reviewed", mayRun]);
  });

  const call: ToolCall = { server: "calculator", tool: "add-original", args: {} };
  const named: ToolDefinition = {
    ...add,
    originalName: "add-original",
    originalServer: "The Calculator",
    annotations: { readOnlyHint: true },
  };

  it("gives the sandbox the limits, the session and the invoker of the run", async () => {
    const sandbox = new MemorySandbox(() => completed);
    const invoker = countingInvoker();
    const agent = createPipeline({ ...settings(sandbox), invoker });
    const onElicit = async () => ({ action: "decline" }) as const;
    await agent.executeCode("1", { limits: { calls: 3 }, session: "ada", onElicit });
    await agent.executeCode("1");
    expect(sandbox.requests).toMatchObject([{ limits: { calls: 3 }, session: "ada" }, {}]);
    expect(sandbox.requests[1]).toMatchObject({ limits: undefined, session: undefined });

    const { signal } = new AbortController();
    const own = { signal, session: "own", elicit: async () => ({ action: "cancel" }) as const };
    for (const { invoker: given } of sandbox.requests) await given?.invoke(call, own);
    expect(invoker.calls).toMatchObject([
      [call, { signal, session: "ada", elicit: onElicit }],
      [call, own],
    ]);
  });

  it("tells a meter the ids of a queue's runs alone: others are not repeated", async () => {
    const sandbox = new MemorySandbox(() => completed);
    const checked: (string | undefined)[] = [];
    const meter = {
      check: async (run?: string) => void checked.push(run),
      admit: () => expect.unreachable(),
    };
    const agent = createPipeline({ ...settings(sandbox), meter });
    for (const onCall of [undefined, async () => {}]) {
      await agent.executeCode("1", { runId: "run-1", onCall });
      await agent.executeTask("add 1", { runId: "run-2", onCall });
    }
    expect(checked).toEqual([undefined, "run-2"]);
    expect(sandbox.requests.map(({ run }) => run)).toEqual([undefined, undefined, "run-1", "run-2"]);
  });

  it("gives calls of a run that is alone no session, and tells of their progress", async () => {
    const sandbox = new MemorySandbox(() => completed);
    const invoker = countingInvoker();
    const agent = createPipeline({ ...settings(sandbox), invoker });
    const events: AgentEvent[] = [];
    await agent.executeCode("1", {
      session: "once",
      singleUse: true,
      onEvent: (event) => void events.push(event),
    });
    const { signal } = new AbortController();
    await sandbox.requests[0]?.invoker?.invoke(call, { signal, session: "own" });
    const [[, context] = []] = invoker.calls;
    expect(context).toMatchObject({ session: undefined });
    context?.onProgress?.({ progress: 1, total: 2 });
    const { server, tool } = call;
    expect(events).toContainEqual({
      type: "tool-progressed",
      server,
      tool,
      progress: { progress: 1, total: 2 },
    });
  });

  it("has no invoker where there are no tools on the host", async () => {
    const sandbox = new MemorySandbox(() => completed);
    await createPipeline(settings(sandbox)).executeCode("1");
    expect(sandbox.requests[0]?.invoker).toBeUndefined();
  });

  it("tells of output and calls, by the name in code and without what a call carried", async () => {
    const record = {
      server: "The Calculator",
      tool: "add-original",
      ms: 2,
      ok: true,
      args: "{}",
      result: "8",
    };
    const other = { ...record, server: "none", tool: "x" };
    const sandbox = new MemorySandbox(({ onOutput, onToolCall }) => {
      onOutput?.({ stream: "stdout", text: "hello" });
      onToolCall?.(record);
      return outcome({ status: "completed", value: 8, toolCalls: [record, other] });
    });
    const events: AgentEvent[] = [];
    const agent = createPipeline({ ...settings(sandbox), catalog: catalogOf(named) });
    const result = await agent.executeCode("1", { onEvent: (event) => events.push(event) });
    const shown = { server: "calculator", tool: "add", ms: 2, ok: true };
    expect(events).toContainEqual({ type: "output", chunk: { stream: "stdout", text: "hello" } });
    expect(events).toContainEqual({ type: "tool-called", call: shown });
    expect(events.find(({ type }) => type === "ran")).toMatchObject({ toolCalls: 2 });
    expect(result.toolCalls).toEqual([shown, { server: "none", tool: "x", ms: 2, ok: true }]);
  });
});

describe("the result", () => {
  it("counts the tokens of the value, the output and the given code", async () => {
    const report = { output: "four", toolResults: [{ sample: "ab", characters: 4 }], outputDroppedBytes: 9 };
    const sandbox = new MemorySandbox(() => outcome({ status: "completed", value: 8, ...report }));
    const agent = createPipeline(settings(sandbox));
    const { contextTokens, ...result } = await agent.executeCode("return 8;");
    const { name, description, inputSchema } = add;
    const direct = JSON.stringify({ name, description, inputSchema }).length + 4;
    expect(contextTokens).toEqual({ direct, used: 5, saved: direct - 5, spent: 9 });
    expect(result).toMatchObject({
      output: "four",
      outputDroppedBytes: 9,
      code: "return 8;",
      origin: "given",
    });
    expect([result.attempts, result.notes, result.usage, result.selectionNotes]).toEqual(
      Array(4).fill(undefined),
    );
  });

  it("is counted in o200k_base tokens where the settings bring no counter", async () => {
    const stages = { ...settings(new MemorySandbox(() => completed)), countTokens: undefined };
    const { contextTokens } = await createPipeline(stages).executeCode("return 12345678;");
    expect(contextTokens).toMatchObject({ used: 1, spent: 6 });
  });

  it("counts the error message, and no cost for code by rules", async () => {
    const stages = settings(new MemorySandbox(() => threw));
    const result = await createPipeline(stages).executeTask("x");
    expect(result.contextTokens).toMatchObject({ used: "null".length + "The code threw E: m".length });
    expect(result.contextTokens.spent).toBeUndefined();
    expect(result.attempts).toBe(1);
  });

  it("adds the time of repeated stages up", async () => {
    const clock = vi.spyOn(performance, "now");
    let now = 1_000;
    clock.mockImplementation(() => now);
    const { generator } = model();
    const slow: PipelineSettings["generator"] = {
      ...generator,
      generate(request) {
        now += 5.004;
        return generator.generate(request);
      },
    };
    const stages = { ...settings(new MemorySandbox(() => threw)), generator: slow };
    const events = await eventsOf(stages).finally(() => clock.mockRestore());
    expect(events.flatMap((event) => (event.type === "generated" ? [event.ms] : []))).toEqual([5, 5]);
    expect(events.at(-1)).toMatchObject({
      result: { timings: { discover: 0, generate: 10, run: 0, total: 10.01 } },
    });
  });
});
