import { CemError } from "@cem/core";
import type {
  AgentEvent,
  CodeGenerator,
  Finding,
  GeneratedCode,
  GenerateRequest,
  GenerationRefused,
  Isolation,
  RunOutcome,
  RunRequest,
  Sandbox,
  ToolDefinition,
  TypeChecker,
  Verdict,
} from "@cem/core";
import { describe, expect, it } from "vitest";
import { createPipeline } from "./agent.ts";
import type { PipelineSettings } from "./agent.ts";

const isolation: Isolation = { level: "permissions", sandbox: "test", mechanisms: [] };

const add: ToolDefinition = {
  server: "calculator",
  name: "add",
  kind: "local",
  description: "Adds two numbers.",
  inputSchema: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } },
  callStyle: "object",
  signature: "add(input: { a: number; b: number }): Promise<number>",
  module: "./servers/calculator/index.ts",
};

function outcome(ending: object): RunOutcome {
  const report = {
    output: "",
    outputDroppedBytes: 0,
    toolCalls: [],
    toolResults: [],
    isolation,
    durationMs: 1,
  };
  return { ...report, ...ending } as unknown as RunOutcome;
}

class MemorySandbox implements Sandbox {
  readonly isolation = isolation;
  readonly requests: RunRequest[] = [];
  disposed = 0;
  readonly #answer: (request: RunRequest) => RunOutcome | Promise<RunOutcome>;

  constructor(answer: (request: RunRequest) => RunOutcome | Promise<RunOutcome>) {
    this.#answer = answer;
  }

  async run(request: RunRequest): Promise<RunOutcome> {
    this.requests.push(request);
    return this.#answer(request);
  }

  async dispose(): Promise<void> {
    this.disposed += 1;
  }
}

const written: GeneratedCode = {
  status: "generated",
  code: "export default 8;",
  origin: "rules",
  uses: [add],
};

function settings(
  sandbox: PipelineSettings["sandbox"],
  answers: { generated?: GeneratedCode | GenerationRefused; verdict?: Verdict } = {},
): PipelineSettings {
  const ranked = { tool: add, score: 0.9, reason: 'matches "add"' };
  return {
    catalog: {
      specificationVersion: "v1",
      list: async () => ({
        servers: [{ name: "calculator", description: "", kind: "local", tools: [add] }],
        problems: [],
        version: "1",
      }),
    },
    selector: {
      specificationVersion: "v1",
      select: async () => ({ selected: [ranked], nearest: [] }),
      search: async () => [ranked],
    },
    generator: { specificationVersion: "v1", generate: async () => answers.generated ?? written },
    guard: {
      specificationVersion: "v1",
      review: async () => answers.verdict ?? { allowed: true, findings: [] },
    },
    sandbox,
  };
}

describe("createPipeline", () => {
  describe("executeTask", () => {
    it("goes through every stage in order and tells each", async () => {
      const sandbox = new MemorySandbox(() =>
        outcome({
          status: "completed",
          value: 8,
          output: "done\n",
          toolCalls: [{ server: "calculator", tool: "add", ms: 1, ok: true }],
          toolResults: [{ characters: 1, sample: "8" }],
        }),
      );
      const events: AgentEvent[] = [];
      const result = await createPipeline(settings(sandbox)).executeTask("Add 5 and 3", {
        onEvent: (event) => events.push(event),
      });

      expect(result).toMatchObject({
        status: "success",
        value: 8,
        output: "done\n",
        error: null,
        code: "export default 8;",
        origin: "rules",
        selectedTools: [{ server: "calculator", tool: "add", score: 0.9, reason: 'matches "add"' }],
        availableTools: 1,
        toolCalls: [{ server: "calculator", tool: "add", ok: true }],
        isolation,
      });
      expect(events.map(({ type }) => type).filter((type) => type !== "stage-started")).toEqual([
        "discovered",
        "selected",
        "generated",
        "reviewed",
        "ran",
        "finished",
      ]);
      expect(Object.keys(result.timings)).toEqual([
        "discover",
        "select",
        "generate",
        "review",
        "run",
        "total",
      ]);
      expect(result.contextTokens.direct).toBeGreaterThan(result.contextTokens.used);
      expect(result.contextTokens.saved).toBe(result.contextTokens.direct - result.contextTokens.used);
    });

    it("runs nothing when the generator refuses, and says which step and why", async () => {
      const sandbox = new MemorySandbox(() => outcome({ status: "completed", value: 1 }));
      const refusal: GenerationRefused = {
        status: "refused",
        steps: [{ step: "send an email", reason: "no-tool", hint: 'No tool here can do "send an email".' }],
      };
      const result = await createPipeline(settings(sandbox, { generated: refusal })).executeTask(
        "Send an email",
      );
      expect(result).toMatchObject({
        status: "refused",
        value: null,
        isolation: null,
        error: { code: "NO_TOOL", details: { steps: [{ step: "send an email" }] } },
      });
      expect(result.error?.message).toContain("Nothing was run.");
      expect(sandbox.requests).toEqual([]);
    });

    it("runs nothing when the guard refuses", async () => {
      const sandbox = new MemorySandbox(() => outcome({ status: "completed", value: 1 }));
      const verdict: Verdict = {
        allowed: false,
        findings: [{ rule: "unknown-export", severity: "error", message: "get_wether is unknown.", line: 4 }],
      };
      const result = await createPipeline(settings(sandbox, { verdict })).executeTask("x");
      expect(result).toMatchObject({ status: "refused", error: { code: "CODE_REFUSED" } });
      expect(result.error?.message).toContain("Line 4: get_wether is unknown.");
      expect(sandbox.requests).toEqual([]);
    });

    it.each([
      [{ status: "timed-out", limitMs: 2000 }, "timeout", "RUN_TIMED_OUT", "2 s"],
      [{ status: "out-of-memory", limitMb: 64 }, "error", "RUN_OUT_OF_MEMORY", "64 MiB"],
      [
        { status: "killed", reason: "call-limit", message: "1,000 calls" },
        "error",
        "RUN_KILLED",
        "1,000 calls",
      ],
      [
        { status: "refused", code: "LINK_LEAVES_WORKSPACE", message: "a link" },
        "refused",
        "LINK_LEAVES_WORKSPACE",
        "link",
      ],
      [
        {
          status: "failed",
          kind: "exception",
          error: { name: "TypeError", message: "x is undefined", line: 3 },
        },
        "error",
        "CODE_THREW",
        "Line 3 of the code threw TypeError: x is undefined",
      ],
      [
        {
          status: "failed",
          kind: "syntax",
          error: { name: "SyntaxError", message: "Unexpected token", line: 1 },
        },
        "error",
        "CODE_INVALID",
        "Line 1",
      ],
    ])("turns %o into %s", async (ending, status, code, message) => {
      const result = await createPipeline(settings(new MemorySandbox(() => outcome(ending)))).executeTask(
        "x",
      );
      expect(result).toMatchObject({ status, error: { code } });
      expect(result.error?.message).toContain(message);
    });

    it("gives a result, not an exception, when it is cancelled", async () => {
      const cancel = new AbortController();
      const sandbox = new MemorySandbox(({ signal }) => {
        cancel.abort();
        return outcome({ status: "killed", reason: signal?.aborted ? "aborted" : "crashed", message: "" });
      });
      const running = createPipeline(settings(sandbox)).executeTask("x", { signal: cancel.signal });
      await expect(running).resolves.toMatchObject({ status: "error", error: { code: "ABORTED" } });
      const late = createPipeline(settings(sandbox)).executeTask("x", { signal: AbortSignal.abort() });
      await expect(late).resolves.toMatchObject({
        status: "error",
        error: { code: "ABORTED" },
        isolation: null,
      });
    });

    it("throws on an empty task and on a set-up that is broken", async () => {
      const agent = createPipeline(
        settings(() => Promise.reject(new CemError("SANDBOX_UNAVAILABLE", "no sandbox"))),
      );
      await expect(agent.executeTask("  ")).rejects.toMatchObject({ code: "TASK_EMPTY" });
      await expect(agent.executeTask("x")).rejects.toMatchObject({ code: "SANDBOX_UNAVAILABLE" });
    });

    it("goes on when a listener throws", async () => {
      const sandbox = new MemorySandbox(() => outcome({ status: "completed", value: 8 }));
      const warning = new Promise<Error>((resolve) => process.once("warning", resolve));
      const result = await createPipeline(settings(sandbox)).executeTask("x", {
        onEvent: (event) => {
          if (event.type === "discovered") throw new Error("listener broke");
        },
      });
      expect(result.value).toBe(8);
      expect((await warning).message).toContain("listener broke");
    });
  });

  describe("executeCode", () => {
    it("starts at the review and reports the code as given", async () => {
      const sandbox = new MemorySandbox(() => outcome({ status: "completed", value: undefined }));
      const result = await createPipeline(settings(sandbox)).executeCode("await 1;", {
        limits: { calls: 3 },
      });
      expect(result).toMatchObject({ status: "success", value: null, origin: "given", selectedTools: [] });
      expect(sandbox.requests[0]).toMatchObject({ code: "await 1;", limits: { calls: 3 } });
    });
  });

  describe("a model's code", () => {
    const wrong: Finding = { rule: "wrong-arguments", severity: "error", message: "add needs b.", line: 2 };
    const threw = { status: "failed", kind: "exception", error: { name: "Error", message: "no", line: 3 } };

    /** A model that writes program 1, 2, 3, … and keeps what it was asked. */
    function model(origin: "llm" | "rules" = "llm"): {
      generator: CodeGenerator;
      requests: GenerateRequest[];
    } {
      const requests: GenerateRequest[] = [];
      const usage = { model: "m", requests: 1, inputTokens: 100, outputTokens: 10, cost: 0.5 };
      return {
        requests,
        generator: {
          specificationVersion: "v1",
          async generate(request) {
            requests.push({ ...request, feedback: [...(request.feedback ?? [])] });
            return { status: "generated", code: `program ${requests.length}`, origin, uses: [], usage };
          },
        },
      };
    }

    function checker(
      findings: (code: string) => Finding[],
    ): TypeChecker & { checked: string[]; disposed: number } {
      return {
        specificationVersion: "v1",
        checked: [],
        disposed: 0,
        async check({ code }) {
          this.checked.push(code);
          return findings(code);
        },
        async dispose() {
          this.disposed += 1;
        },
      };
    }

    it("is mended with what its types, and then its run, came to, and all costs are told", async () => {
      const { generator, requests } = model();
      const record = { server: "calculator", tool: "add", ms: 1, ok: true, args: "{}", result: "8" };
      const sandbox = new MemorySandbox(({ code }) =>
        outcome(
          code === "program 3"
            ? { status: "completed", value: 8 }
            : { ...threw, output: "o", toolCalls: [record] },
        ),
      );
      const typeChecker = checker((code) => (code === "program 1" ? [wrong] : []));
      const result = await createPipeline({ ...settings(sandbox), generator, typeChecker }).executeTask("x");
      expect(result).toMatchObject({ status: "success", value: 8, attempts: 3, code: "program 3" });
      expect(result.usage).toEqual({
        model: "m",
        requests: 3,
        inputTokens: 300,
        outputTokens: 30,
        cost: 1.5,
      });
      expect(result.contextTokens.spent).toBe(330);
      expect(result.toolCalls).toEqual([{ server: "calculator", tool: "add", ms: 1, ok: true }]);
      expect(requests[2]?.spent).toMatchObject({ requests: 2 });
      expect(requests[2]?.feedback).toMatchObject([
        { code: "program 1", findings: [wrong] },
        {
          code: "program 2",
          error: { code: "CODE_THREW" },
          output: "o",
          calls: [{ args: "{}", result: "8" }],
        },
      ]);
    });

    it("is refused without denying that an earlier try ran", async () => {
      const { generator } = model();
      const sandbox = new MemorySandbox(() => outcome(threw));
      const typeChecker = checker((code) => (code === "program 1" ? [] : [wrong]));
      const settingsOfOne = { ...settings(sandbox), generator, typeChecker, maxRepairs: 1 };
      const result = await createPipeline(settingsOfOne).executeTask("x");
      expect(result.error?.message).toBe("Line 2: add needs b. This code was not run; an earlier try was.");
    });

    it("is not written again when the same comes of it, wherever in the code", async () => {
      const { generator, requests } = model();
      let line = 3;
      const sandbox = new MemorySandbox(() =>
        outcome({ ...threw, error: { ...threw.error, line: (line += 1) } }),
      );
      const result = await createPipeline({ ...settings(sandbox), generator, maxRepairs: 9 }).executeTask(
        "x",
      );
      expect([result.status, result.attempts, requests.length]).toEqual(["error", 2, 2]);
    });

    it.each([
      [{ status: "killed", reason: "aborted", message: "" }],
      [{ status: "killed", reason: "crashed", message: "" }],
      [{ status: "refused", code: "LINK_LEAVES_WORKSPACE", message: "" }],
    ])("is not written again after %o", async (ending) => {
      const { generator, requests } = model();
      await createPipeline({ ...settings(new MemorySandbox(() => outcome(ending))), generator }).executeTask(
        "x",
      );
      expect(requests).toHaveLength(1);
    });

    it("is what is mended: rules would write the same again", async () => {
      const { generator, requests } = model("rules");
      const typeChecker = checker(() => [wrong]);
      const sandbox = new MemorySandbox(() => outcome(threw));
      const agent = createPipeline({ ...settings(sandbox), generator, typeChecker });
      await expect(agent.executeTask("x")).resolves.toMatchObject({
        error: { code: "CODE_THREW" },
        attempts: 1,
      });
      expect([requests.length, typeChecker.checked]).toEqual([1, []]);
      // Unless asked for, their types are not checked.
      await expect(agent.executeTask("x", { typeCheck: "before" })).resolves.toMatchObject({
        status: "refused",
        error: {
          code: "CODE_MISTYPED",
          message: "Line 2: add needs b. Nothing was run.",
          details: { line: 2 },
        },
      });
    });

    it("runs with a warning where its types could not be checked", async () => {
      const warning: Finding = {
        rule: "not-type-checked",
        severity: "warning",
        message: "It took too long.",
      };
      const sandbox = new MemorySandbox(() => outcome({ status: "completed", value: 1 }));
      const typeChecker = checker(() => [warning]);
      const events: AgentEvent[] = [];
      const agent = createPipeline({ ...settings(sandbox), typeChecker });
      const result = await agent.executeCode("1", { onEvent: (event) => events.push(event) });
      expect(result.status).toBe("success");
      expect(events.find(({ type }) => type === "reviewed")).toMatchObject({
        allowed: true,
        findings: [warning],
      });
    });

    it("disposes the checker it made, and not one it was given", async () => {
      const sandbox = new MemorySandbox(() => outcome({ status: "completed", value: 1 }));
      const [made, given] = [checker(() => []), checker(() => [])];
      for (const typeChecker of [async () => made, given]) {
        const agent = createPipeline({ ...settings(sandbox), typeChecker });
        await agent.executeCode("1");
        await agent.dispose();
      }
      expect([made.disposed, given.disposed]).toEqual([1, 0]);
    });
  });

  describe("dispose", () => {
    it("disposes the sandbox it made, and not one it was given", async () => {
      const answer = (): RunOutcome => outcome({ status: "completed", value: 1 });
      const made = new MemorySandbox(answer);
      const given = new MemorySandbox(answer);
      const owner = createPipeline(settings(async () => made));
      const guest = createPipeline(settings(given));
      await Promise.all([owner.executeTask("x"), guest.executeTask("x")]);
      await Promise.all([owner.dispose(), guest.dispose(), owner.dispose()]);
      expect([made.disposed > 0, given.disposed]).toEqual([true, 0]);
      await expect(owner.executeTask("x")).rejects.toMatchObject({ code: "AGENT_DISPOSED" });
    });

    it("cancels what runs and waits for it", async () => {
      const sandbox = new MemorySandbox(
        ({ signal }) =>
          new Promise((resolve) => {
            signal?.addEventListener("abort", () =>
              resolve(outcome({ status: "killed", reason: "aborted", message: "" })),
            );
          }),
      );
      const agent = createPipeline(settings(sandbox));
      const running = agent.executeTask("x");
      while (sandbox.requests.length === 0) await new Promise(setImmediate);
      await agent.dispose();
      await expect(running).resolves.toMatchObject({ error: { code: "ABORTED" } });
    });
  });
});
