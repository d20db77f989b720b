import type { AgentEvent, Finding, Guard } from "@cem/core";
import { describe, expect, it } from "vitest";
import { checker, MemorySandbox, model, outcome, settings } from "../fixtures/stages.ts";
import { createPipeline } from "./pipeline.ts";

describe("createPipeline", () => {
  describe("a model's code", () => {
    const wrong: Finding = { rule: "wrong-arguments", severity: "error", message: "add needs b.", line: 2 };
    const threw = { status: "failed", kind: "exception", error: { name: "Error", message: "no", line: 3 } };

    it("is repaired with the findings of the type check and the error of the run, and all costs are added up", async () => {
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

    it("is repaired with its syntax error, before anything has run", async () => {
      const { generator, requests } = model();
      const syntaxError = { name: "SyntaxError", message: "Unexpected token", line: 1, column: 3 };
      const finding: Finding = { ...wrong, rule: "syntax-error", message: "Unexpected token" };
      const guard: Guard = {
        specificationVersion: "v1",
        review: async ({ code }) =>
          code === "program 1"
            ? { allowed: false, findings: [finding], syntaxError }
            : { allowed: true, findings: [] },
      };
      const sandbox = new MemorySandbox(() => outcome({ status: "completed", value: 8 }));
      const result = await createPipeline({ ...settings(sandbox), generator, guard }).executeTask("x");
      expect(result).toMatchObject({ status: "success", attempts: 2, code: "program 2" });
      expect(requests[1]?.feedback).toEqual([{ code: "program 1", findings: [finding] }]);
      expect(sandbox.requests).toHaveLength(1);
    });

    it("is refused with a message that says that an earlier attempt was run", async () => {
      const { generator } = model();
      const sandbox = new MemorySandbox(() => outcome(threw));
      const typeChecker = checker((code) => (code === "program 1" ? [] : [wrong]));
      const settingsOfOne = { ...settings(sandbox), generator, typeChecker, maxRepairs: 1 };
      const result = await createPipeline(settingsOfOne).executeTask("x");
      expect(result.error?.message).toBe(
        "Line 2: add needs b. This code was not run; an earlier attempt was.",
      );
    });

    it("is not repaired when an error repeats, on whichever line", async () => {
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
    ])("is not repaired after %o", async (ending) => {
      const { generator, requests } = model();
      await createPipeline({ ...settings(new MemorySandbox(() => outcome(ending))), generator }).executeTask(
        "x",
      );
      expect(requests).toHaveLength(1);
    });

    it("alone is repaired: rules would write the same again", async () => {
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

    it("disposes the type checker that it created, and not one that it was given", async () => {
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
});
