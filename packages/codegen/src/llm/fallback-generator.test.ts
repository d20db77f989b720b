import { CemError } from "@cem/core";
import type { CodeGenerator } from "@cem/core";
import { describe, expect, it } from "vitest";
import { createFallbackGenerator } from "./llm-generator.ts";

const usage = { model: "m", requests: 1, inputTokens: 10, outputTokens: 2 };

const failing: CodeGenerator = {
  specificationVersion: "v1",
  generate: async () => {
    throw new CemError("LLM_FAILED", "The API of m failed.", { details: { usage } });
  },
};

const rules: CodeGenerator = {
  specificationVersion: "v1",
  generate: async () => ({ status: "generated", code: "export default 1;", origin: "rules", uses: [] }),
};

const request = { task: "x", tools: [] };

describe("createFallbackGenerator", () => {
  describe("generate", () => {
    it("asks the first alone when it works", async () => {
      expect(await createFallbackGenerator(rules, failing).generate(request)).toMatchObject({
        origin: "rules",
      });
    });

    it("asks the second when the first fails, says so, and keeps what was spent", async () => {
      const reported: unknown[] = [];
      const generator = createFallbackGenerator(failing, rules, ({ code }, instead) =>
        reported.push(code, instead.status),
      );
      expect(await generator.generate(request)).toEqual({
        status: "generated",
        code: "export default 1;",
        origin: "rules",
        uses: [],
        usage,
        notes: ["The API of m failed. The code was written by rules instead."],
      });
      expect(reported).toEqual(["LLM_FAILED", "generated"]);
    });

    it("does not ask the second after code has run", async () => {
      const generator = createFallbackGenerator(failing, rules);
      const ran = { code: "x", error: { code: "CODE_THREW", message: "x", details: {} } };
      await expect(generator.generate({ ...request, feedback: [ran] })).rejects.toThrow(
        "The API of m failed.",
      );
      const checked = { code: "x", findings: [] };
      expect(await generator.generate({ ...request, feedback: [checked] })).toMatchObject({
        origin: "rules",
      });
    });

    it("does not take a cancelled request for a failure", async () => {
      const signal = AbortSignal.abort(new Error("enough"));
      await expect(createFallbackGenerator(failing, rules).generate({ ...request, signal })).rejects.toThrow(
        "enough",
      );
    });
  });
});
