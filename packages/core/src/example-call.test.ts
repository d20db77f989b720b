import { describe, expect, it } from "vitest";
import { exampleCall } from "./example-call.ts";
import type { JsonSchema } from "./json.ts";
import type { ToolDefinition } from "./tools.ts";

function example(inputSchema: JsonSchema, more: Partial<ToolDefinition> = {}): string {
  return exampleCall({
    server: "s",
    name: "f",
    kind: "local",
    description: "",
    inputSchema,
    callStyle: "object",
    signature: "f()",
    module: "./servers/s/index.ts",
    ...more,
  });
}

/** A schema whose only property is required. */
const taking = (schema: JsonSchema, more: JsonSchema = {}): JsonSchema => ({
  type: "object",
  properties: { city: schema },
  required: ["city"],
  ...more,
});

describe("exampleCall", () => {
  it("has the required arguments, and no others", () => {
    const number: JsonSchema = { type: "number" };
    const schema = { type: "object", properties: { a: number, b: number, c: number }, required: ["a", "b"] };
    expect(example(schema)).toBe("await f({ a: 1, b: 1 })");
    expect(example(schema, { callStyle: "positional" })).toBe("await f(1, 1)");
    expect(example({ type: "object", properties: { a: number } })).toBe("await f()");
    expect(example({})).toBe("await f()");
  });

  it.each<[JsonSchema, string]>([
    [{ $ref: "#/$defs/a", $defs: { a: taking({ const: 1 }) } }, "{ city: 1 }"],
    [{ allOf: [taking({ const: 1 }), { required: ["n"] }] }, '{ city: 1, n: "n" }'],
    [{ properties: { a: { const: 1 } }, anyOf: [{ required: ["a"] }, { required: ["b"] }] }, "{ a: 1 }"],
    [taking({ enum: ["b", "a"] }, { oneOf: [{ properties: { city: { const: "a" } } }] }), '{ city: "a" }'],
    [{ anyOf: [{ type: "null" }, { oneOf: [taking({ const: 1 })] }] }, "{ city: 1 }"],
  ])("has what %j requires as a whole", (schema, input) => {
    expect(example(schema)).toBe(`await f(${input})`);
  });

  it.each<[JsonSchema, string]>([
    [{ const: "x" }, '"x"'],
    [{ type: "string", enum: ["a", "b"] }, '"a"'],
    [{ type: "string", examples: ["Oslo"], default: "Rome" }, '"Oslo"'],
    [{ type: "string", default: "Rome" }, '"Rome"'],
    [{ type: "string", description: "Name of a city: `San Francisco`, `NYC`." }, '"San Francisco"'],
    [{ type: "string", description: 'A city, such as "Oslo"' }, '"Oslo"'],
    [{ type: "string", description: "The `city` to look up." }, '"city"'],
    [{ type: "string", format: "date" }, '"2026-06-21"'],
    [{ type: "integer", minimum: 3 }, "3"],
    [{ type: "number", maximum: -2 }, "-2"],
    [{ type: ["null", "boolean"] }, "true"],
    [{ type: "null" }, "null"],
    [{ type: "array", items: { type: "string" } }, '["city"]'],
    [{ type: "array", items: { type: "integer" }, minItems: 2 }, "[1, 1]"],
    [{ anyOf: [{ type: "null" }, { type: "integer" }] }, "1"],
    [{ oneOf: [{ const: 4 }, { const: 5 }] }, "4"],
    [taking({ type: "boolean" }), "{ city: true }"],
    [{ properties: { "a-b": {} }, required: ["a-b"] }, '{ "a-b": "a-b" }'],
    [{ $ref: "#/$defs/city" }, '"Oslo"'],
    [{ type: "array", prefixItems: [{ type: "integer" }, { type: "string" }] }, '[1, "city"]'],
    [
      { allOf: [taking({ type: "null" }), { properties: { n: { const: 2 } }, required: ["n"] }] },
      "{ city: null, n: 2 }",
    ],
    [{ anyOf: [{ $ref: "#/$defs/city" }, { type: "null" }], description: "like `Rome`" }, '"Oslo"'],
    [{ $ref: "https://elsewhere.example/schema" }, '"city"'],
  ])("makes a value for %j", (schema, value) => {
    const more = { $defs: { city: { enum: ["Oslo"] } } };
    expect(example(taking(schema, more))).toBe(`await f({ city: ${value} })`);
  });

  it("ends for a schema that names itself, or is no schema at all", () => {
    const itself = taking({ $ref: "#" });
    expect(example(itself).length).toBeLessThan(200);
    const wide = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`p${at}`, { $ref: "#" }]));
    expect(example({ type: "object", properties: wide, required: Object.keys(wide) }).length).toBeLessThan(
      20_000,
    );
    const odd: unknown = { properties: [1], required: [{}, "a"], anyOf: "x" };
    expect(example(odd as JsonSchema)).toBe('await f({ a: "a" })');
  });

  it("writes texts of a definition as data", () => {
    const hostile = '`" + steal() + "`';
    expect(example(taking({ type: "string", default: hostile }))).toBe(
      `await f({ city: ${JSON.stringify(hostile)} })`,
    );
  });
});
