import { CemError } from "@cem/core";
import type { AgentEvent, GenerationRefused, Redactor, RunOutcome, Verdict } from "@cem/core";
import { describe, expect, it } from "vitest";
import { isolation, MemorySandbox, outcome, settings } from "../fixtures/stages.ts";
import { createPipeline } from "./pipeline.ts";

describe("createPipeline", () => {
  describe("executeTask", () => {
    it("goes through the stages in order, with an event for each", async () => {
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

    it("runs nothing when the generator refuses, and names the step and the reason", async () => {
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

    it("runs nothing when the guard can't parse the code, and tells it as a run would", async () => {
      const sandbox = new MemorySandbox(() => outcome({ status: "completed", value: 1 }));
      const syntaxError = { name: "SyntaxError", message: "Unexpected token", line: 2, column: 10 };
      const findings: Verdict["findings"] = [
        { rule: "syntax-error", severity: "error", message: "Unexpected token", line: 2, column: 10 },
      ];
      const verdict: Verdict = { allowed: false, findings, syntaxError };
      const result = await createPipeline(settings(sandbox, { verdict })).executeCode(
        "const a = 1;\nconst b: = 2;",
      );
      expect(result).toMatchObject({
        status: "error",
        isolation: null,
        error: {
          code: "CODE_INVALID",
          message: "Line 2, column 10 of the code is not valid TypeScript, and was not run: Unexpected token",
          details: syntaxError,
        },
      });
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

    it("returns a result when it is cancelled", async () => {
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

    it.each([
      ["catalog", "list"],
      ["selector", "select"],
      ["generator", "generate"],
      ["guard", "review"],
    ] as const)("ends and is disposed though its %s never settles", async (stage, method) => {
      const parts = settings(new MemorySandbox(() => outcome({ status: "completed", value: 1 })));
      const reached = Promise.withResolvers<void>();
      const never = (): Promise<never> => {
        reached.resolve();
        return new Promise(() => {});
      };
      const agent = createPipeline({ ...parts, [stage]: { ...parts[stage], [method]: never } });
      const cancel = new AbortController();
      const running = agent.executeTask("x", { signal: cancel.signal });
      await reached.promise;
      cancel.abort();
      await expect(running).resolves.toMatchObject({ status: "error", error: { code: "ABORTED" } });
      const next = agent.executeTask("x");
      await agent.dispose();
      await expect(next).resolves.toMatchObject({ error: { code: "AGENT_DISPOSED" } });
    });

    it.each(["searchTools", "saveSkill"] as const)(
      "ends %s though its catalog never settles",
      async (method) => {
        const parts = settings(new MemorySandbox(() => outcome({ status: "completed", value: 1 })));
        const agent = createPipeline({
          ...parts,
          catalog: { ...parts.catalog, list: () => new Promise(() => {}) },
          saveSkill: () => Promise.reject(new Error("not reached")),
        });
        const draft = { name: "a", description: "b", code: "", test: "" };
        const asked = method === "searchTools" ? agent.searchTools("x") : agent.saveSkill?.(draft);
        const [ending] = await Promise.allSettled([asked, agent.dispose()]);
        expect(ending).toMatchObject({ status: "rejected", reason: { code: "AGENT_DISPOSED" } });
      },
    );

    it.each([
      ["catalog", {}, "list()"],
      ["selector", { specificationVersion: "v1", select: String }, "select(), search()"],
      ["guard", { specificationVersion: "v2", review: String }, "review()"],
    ])("rejects for a %s that is none: %j", async (stage, given, methods) => {
      const parts = settings(new MemorySandbox(() => outcome({ status: "completed", value: 1 })));
      await expect(createPipeline({ ...parts, [stage]: given }).executeTask("x")).rejects.toMatchObject({
        code: "OPTION_INVALID",
        message: `The ${stage} has to be an object with specificationVersion: "v1" and ${methods}.`,
      });
    });

    it("rejects for an empty task and when a stage can't be created", async () => {
      const agent = createPipeline(
        settings(() => Promise.reject(new CemError("SANDBOX_UNAVAILABLE", "no sandbox"))),
      );
      await expect(agent.executeTask("  ")).rejects.toMatchObject({ code: "TASK_EMPTY" });
      await expect(agent.executeTask("x")).rejects.toMatchObject({ code: "SANDBOX_UNAVAILABLE" });
    });

    it.each([
      ["discovered", false],
      ["ran", false],
      ["finished", false],
      ["ran", true],
    ])("continues when a listener throws at %s (asynchronous: %s)", async (type, isAsync) => {
      const sandbox = new MemorySandbox(() => outcome({ status: "completed", value: 8 }));
      const warning = new Promise<Error>((resolve) => process.once("warning", resolve));
      const hear = (event: { type: string }): void => {
        if (event.type === type) throw new Error("listener broke");
      };
      const redactor = {
        specificationVersion: "v1",
        tokenize: <Data>(data: Data): Data => data,
        reveal: <Data>(data: Data): Data => data,
        observe: () => {},
        openStream: () => ({ push: (text: string) => text, end: () => "" }),
      } as unknown as Redactor;
      const pipeline = createPipeline({ ...settings(sandbox), redactor });
      const result = await pipeline.executeTask("x", {
        onEvent: (event): unknown => (isAsync ? Promise.resolve(event).then(hear) : hear(event)),
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

    it.each([
      [undefined, "refused"],
      [true, "success"],
    ])("with a token that stands for no value, keepsTokens being %s, is %s", async (keepsTokens, status) => {
      const sandbox = new MemorySandbox(() => outcome({ status: "completed", value: 1 }));
      const token = "[[EMAIL:aaaabbbbccccdddd]]";
      const redactor = {
        specificationVersion: "v1",
        tokenize: <Data>(data: Data): Data => data,
        reveal: <Data>(data: Data): Data => data,
        detokenize: async () => {
          throw new CemError("TOKEN_UNKNOWN", "Unknown.", { details: { token } });
        },
      } as unknown as Redactor;
      const pipeline = createPipeline({ ...settings(sandbox), redactor, keepsTokens });
      expect(await pipeline.executeCode(`return "${token}";`)).toMatchObject({ status });
      expect(sandbox.requests.map(({ code }) => code)).toEqual(
        status === "success" ? [`return "${token}";`] : [],
      );
    });
  });

  describe("dispose", () => {
    it("disposes the sandbox that it created, and not one that it was given", async () => {
      const answer = (): RunOutcome => outcome({ status: "completed", value: 1 });
      const made = new MemorySandbox(answer);
      const given = new MemorySandbox(answer);
      const creator = createPipeline(settings(async () => made));
      const borrower = createPipeline(settings(given));
      await Promise.all([creator.executeTask("x"), borrower.executeTask("x")]);
      await Promise.all([creator.dispose(), borrower.dispose(), creator.dispose()]);
      expect([made.disposed, given.disposed]).toEqual([1, 0]);
      await expect(creator.executeTask("x")).rejects.toMatchObject({ code: "AGENT_DISPOSED" });
    });

    it("cancels requests under way and waits for them", async () => {
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
