import type { JsonSchema } from "@cem/core";
import { describe, expect, it } from "vitest";
import { createResultCheck, resultInvalid } from "./result-checks.ts";
import type { SchemaValidator } from "./schema-validation.ts";
import type { Unvalidated } from "./unvalidated.ts";

const tool = { server: "shop", tool: "list" };
const schema: JsonSchema = {
  type: "object",
  properties: { unit: { type: "string" } },
  additionalProperties: false,
};

describe("createResultCheck", () => {
  it("passes what fits and fails for what does not, naming the place", async () => {
    const check = createResultCheck();
    await check(tool, schema, { unit: "EUR" });
    await expect(check(tool, schema, { unit: 1 })).rejects.toMatchObject({
      code: "RESULT_INVALID",
      message:
        "shop.list answered, but its result does not fit its own output schema: `/unit` must be a string, not a number: it is 1.",
      details: { server: "shop", tool: "list", place: "/unit" },
    });
  });

  it("uses the validator that it is given", async () => {
    const validator: SchemaValidator = {
      prepare: async () => ({ validated: true, check: () => ({ path: "/a", message: "`/a` is bad" }) }),
    };
    await expect(createResultCheck({ validator })(tool, schema, {})).rejects.toThrow("schema: `/a` is bad.");
  });

  it("reports each tool once whose results go unchecked", async () => {
    const reported: Unvalidated[] = [];
    const check = createResultCheck({ onUnvalidated: (unvalidated) => reported.push(unvalidated) });
    const other = { server: "shop", tool: "slow" };
    for (let round = 0; round < 2; round += 1) {
      await check(tool, { type: "strange" }, 1);
      await check(other, { pattern: "(.{0,900})[cd]$" }, "a".repeat(1_000_000));
    }
    expect(reported).toEqual([
      { ...tool, subject: "result", reason: expect.stringContaining("the schema can't be used") },
      { ...other, subject: "result", reason: "it is too large or too deeply nested to be checked" },
    ]);
    await createResultCheck()(tool, { type: "strange" }, 1);
  });
});

describe("resultInvalid", () => {
  it("ends as one sentence", () => {
    const { message } = resultInvalid(tool, { path: "/units", message: "did you mean `unit`?" });
    expect(message.endsWith("did you mean `unit`?")).toBe(true);
  });
});
