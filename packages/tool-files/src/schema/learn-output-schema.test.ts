import type { JsonValue } from "@cem/core";
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

  it.each([
    "7",
    "2026-01-31T10:00:00.5+01:00",
    "0123abcd",
    "DEADBEEF",
    "0123abcd-0123-4abc",
    "ann@x",
    "a/b",
    "a b",
    "x".repeat(65),
  ])("takes the key %j for data", (key) => {
    expect(learnOutputSchema([{ [key]: 1, name: 2 }]).schema).toEqual({
      type: "object",
      additionalProperties: { type: "integer" },
    });
  });

  it.each([
    "name",
    "v2",
    "7th",
    "abcdef",
    "0123abcg",
    "0123abcd-xyz",
    "deadbeef-1",
    "x".repeat(64),
    "a-b",
    "a.b",
  ])("takes the key %j for a name", (key) => {
    expect(learnOutputSchema([{ [key]: 1 }]).schema["properties"]).toEqual({ [key]: { type: "integer" } });
  });

  it("names up to 60 properties", () => {
    const object = (count: number): Record<string, number> =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`key${index}`, index]));
    expect(Object.keys(learnOutputSchema([object(60)]).schema["properties"] as object)).toHaveLength(60);
    expect(learnOutputSchema([object(61)]).schema).not.toHaveProperty("properties");
  });

  it("keeps entries apart from names once keys were data", () => {
    const { schema } = learnOutputSchema([{ "1": "x" }, { name: 2 }]);
    expect(schema).toEqual({ type: "object", additionalProperties: { type: ["integer", "string"] } });
    const later = learnOutputSchema([{ name: null }], { schema, results: 2 });
    expect(later).toEqual({
      results: 3,
      schema: { type: "object", additionalProperties: { type: ["integer", "null", "string"] } },
    });
  });

  it("reads 200 items of a long array, spread over it", () => {
    const items = Array.from({ length: 1_000 }, (_, index) => (index % 5 === 0 ? index : "x"));
    expect(learnOutputSchema([items]).schema).toEqual({ type: "array", items: { type: "integer" } });
    const all = Array.from({ length: 200 }, (_, index) => (index === 199 ? "last" : index));
    expect(learnOutputSchema([all]).schema).toEqual({
      type: "array",
      items: { type: ["integer", "string"] },
    });
  });

  it("reads eight levels, also of what was learned before", () => {
    const nested = (levels: number): JsonValue => (levels === 0 ? 1 : { n: nested(levels - 1) });
    const listed = (levels: number): JsonValue => (levels === 0 ? 1 : [listed(levels - 1)]);
    for (const [make, key] of [
      [nested, '"properties"'],
      [listed, '"array"'],
    ] as const) {
      const deep = learnOutputSchema([make(20)]);
      expect(JSON.stringify(deep.schema).split(key)).toHaveLength(9 + 1);
      expect(learnOutputSchema([], deep)).toEqual(deep);
    }
    const mapped = learnOutputSchema([{ "1": { "2": [{ "3": 4 }] } }]);
    expect(learnOutputSchema([], mapped)).toEqual(mapped);
  });

  it.each([
    ["properties", (inner: object) => ({ type: "object", properties: { n: inner } })],
    ["items", (inner: object) => ({ type: "array", items: inner })],
    ["additionalProperties", (inner: object) => ({ type: "object", additionalProperties: inner })],
  ])("reads nine levels of %s of a schema that somebody made deeper", (keyword, around) => {
    let schema = {};
    for (let level = 0; level < 30; level += 1) schema = around(schema);
    const learned = learnOutputSchema([], { schema, results: 1 });
    expect(JSON.stringify(learned.schema).split(`"${keyword}"`)).toHaveLength(9 + 1);
  });

  it("says nothing of a value that was never seen", () => {
    expect(learnOutputSchema([[]])).toEqual({ schema: { type: "array" }, results: 1 });
    expect(
      learnOutputSchema([], { schema: { type: 5, items: 5, properties: [], required: [1] }, results: 1 }),
    ).toEqual({
      schema: {},
      results: 1,
    });
  });

  it("gives types, names and properties in a stable order", () => {
    const samples = [
      { b: "x", a: 1 },
      { a: null, b: true },
    ];
    const { schema } = learnOutputSchema(samples);
    expect(JSON.stringify(schema)).toBe(
      '{"type":"object","properties":{"b":{"type":["boolean","string"]},"a":{"type":["integer","null"]}},"required":["a","b"]}',
    );
  });

  it("keeps __proto__ as a name like any other", () => {
    const { schema } = learnOutputSchema([JSON.parse('{"__proto__":{"a":1}}')]);
    expect(Object.keys(schema["properties"] as object)).toEqual(["__proto__"]);
  });
});
