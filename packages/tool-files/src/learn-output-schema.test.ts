import { describe, expect, it } from "vitest";
import { learnOutputSchema } from "./learn-output-schema.ts";

describe("learnOutputSchema", () => {
  it("merges what several results have in common", () => {
    const learned = learnOutputSchema([
      { id: 1, name: "a", tags: ["x"] },
      { id: 2.5, name: null, extra: true, tags: [] },
    ]);
    expect(learned).toEqual({
      results: 2,
      schema: {
        type: "object",
        properties: {
          id: { type: "number" },
          name: { type: ["null", "string"] },
          tags: { type: "array", items: { type: "string" } },
          extra: { type: "boolean" },
        },
        required: ["id", "name", "tags"],
      },
    });
  });

  it("gives the same in one go as in two", () => {
    const samples = [{ a: 1 }, { a: "x", b: [1, "y"] }, [{ c: null }], { b: [] }];
    const first = learnOutputSchema(samples.slice(0, 2));
    expect(learnOutputSchema(samples.slice(2), first)).toEqual(learnOutputSchema(samples));
  });

  it("takes keys that are data for entries, and keeps none of them", () => {
    const byMail = learnOutputSchema([{ "ann@example.com": { n: 1 }, "bob@example.com": { n: 2 } }]);
    expect(byMail.schema).toEqual({
      type: "object",
      additionalProperties: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
    });
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`key${index}`, index]));
    expect(learnOutputSchema([many]).schema).toEqual({
      type: "object",
      additionalProperties: { type: "integer" },
    });
    expect(JSON.stringify(learnOutputSchema([{ secret: "s3cr3t" }]))).not.toContain("s3cr3t");
  });

  it("keeps __proto__ as a name like any other", () => {
    const { schema } = learnOutputSchema([JSON.parse('{"__proto__":{"a":1}}')]);
    expect(Object.keys(schema["properties"] as object)).toEqual(["__proto__"]);
  });
});
