import type { JsonSchema } from "@cem/core";
import { describe, expect, it } from "vitest";
import { describeCalls } from "./signature.ts";
import { generateToolModule } from "./tool-module.ts";

/** The type of the input in a signature, and that of the output. */
function signatureOf(inputSchema: unknown, outputSchema?: unknown): string {
  const naming = { server: "server", identifier: "tool" };
  return generateToolModule({ name: "tool", inputSchema, outputSchema }, naming).signature;
}
const inputOf = (schema: unknown): string =>
  /^tool\(input: \{ a: (.*) \}\): Promise<unknown>$/.exec(
    signatureOf({ type: "object", properties: { a: schema }, required: ["a"] }),
  )?.[1] ?? "no match";

const S = { type: "string" };
const N = { type: "number" };

describe("a signature", () => {
  it.each([
    [{ type: "array", items: { enum: [1, 2] } }, "(1 | 2)[]"],
    [{ prefixItems: [S, { enum: [1, 2] }], minItems: 1, items: N }, "[string, (1 | 2)?, ...number[]]"],
    [{ type: "object", properties: { "b-c": N }, required: ["b-c"] }, '{ "b-c": number }'],
    [
      { type: "object", properties: { b: N }, additionalProperties: true },
      "{ b?: number; [key: string]: unknown }",
    ],
    [{ type: "object", properties: {}, additionalProperties: S }, "{ [key: string]: string }"],
    [{ allOf: [{ required: ["b"] }, { properties: { c: N } }] }, "{ b: unknown } & { c?: number }"],
    [
      { enum: Array.from({ length: 12 }, (_, index) => `v${index}`) },
      Array.from({ length: 12 }, (_, index) => `"v${index}"`).join(" | "),
    ],
    [{ enum: Array.from({ length: 13 }, (_, index) => `v${index}`) }, "string"],
    [{ enum: Array.from({ length: 13 }, (_, index) => index) }, "unknown"],
  ])("writes %j as %s", (schema, expected) => {
    expect(inputOf(schema)).toBe(expected);
  });

  it("expands three levels of objects and of named types", () => {
    const nested = (levels: number): object =>
      levels === 0 ? S : { type: "object", properties: { n: nested(levels - 1) }, required: ["n"] };
    expect(signatureOf(nested(3))).toBe("tool(input: { n: { n: { n: string } } }): Promise<unknown>");
    expect(signatureOf(nested(4))).toBe("tool(input: { n: { n: { n: object } } }): Promise<unknown>");
    const named = { $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/c" }, c: S } };
    expect(signatureOf(named)).toBe("tool(input: string): Promise<unknown>");
    const longer = { $ref: "#/$defs/z", $defs: { ...named.$defs, z: { $ref: "#/$defs/a" } } };
    expect(signatureOf(longer)).toBe("tool(input: unknown): Promise<unknown>");
  });

  it("has no argument where none is allowed", () => {
    expect(signatureOf({ type: "object", additionalProperties: false })).toBe("tool(): Promise<unknown>");
    expect(signatureOf({ type: "object", properties: {} }, { type: "object" })).toBe(
      "tool(): Promise<{ [key: string]: unknown }>",
    );
    expect(signatureOf({ type: "object", additionalProperties: N })).toBe(
      "tool(input?: { [key: string]: number }): Promise<unknown>",
    );
    expect(signatureOf({ enum: [1] })).toBe("tool(input: 1): Promise<unknown>");
  });

  it("is written with less detail until it has at most 600 characters", () => {
    const wide = (levels: number, count: number): object => ({
      type: "object",
      properties: Object.fromEntries(
        Array.from({ length: count }, (_, index) => [
          `p${index}`,
          levels === 1 ? N : wide(levels - 1, count),
        ]),
      ),
    });
    const two = signatureOf(wide(3, 4), wide(2, 3));
    expect(two).toContain("(input?: { p0?: { p0?: object; p1?: object;");
    expect(two.length).toBeLessThanOrEqual(600);
    const one = signatureOf(wide(3, 12));
    expect(one).toMatch(/^tool\(input\?: \{ p0\?: object; p1\?: object;/);
    const inputOnly = signatureOf(wide(1, 45), wide(1, 45));
    expect(inputOnly).toMatch(/^tool\(input\?: \{ p0\?: number; .*p44\?: number \}\): Promise<object>$/);
    expect(signatureOf(wide(1, 120))).toMatch(/p119\?: number \}\): Promise<unknown>$/);
    expect(signatureOf(wide(1, 300))).toBe("tool(input?: object): Promise<unknown>");
  });
});

function tool(name: string, inputSchema: JsonSchema, outputSchema?: JsonSchema) {
  const { signature } = generateToolModule(
    { name, inputSchema, outputSchema },
    { server: "s", identifier: name },
  );
  return { name, inputSchema, outputSchema, callStyle: "object", signature } as const;
}

const one = (inputSchema: JsonSchema): string =>
  describeCalls([tool("tool", inputSchema)]).signatures[0] ?? "";

const input = (property: JsonSchema): string => one({ type: "object", properties: { a: property } });

describe("describeCalls", () => {
  it.each([
    [
      { type: "integer", minimum: 1, maximum: 31, default: 5, description: "How many days, from tomorrow." },
      "a?: number /* integer 1–31, how many days, from tomorrow, default 5 */",
    ],
    [{ type: "number", minimum: 0 }, "a?: number /* ≥ 0 */"],
    [{ type: "number", maximum: 9 }, "a?: number /* ≤ 9 */"],
    [{ type: "integer", minimum: -9_007_199_254_740_991, maximum: 9_007_199_254_740_991 }, "/* integer */"],
    [{ type: "string", format: "date-time" }, "a?: string /* date-time */"],
    [{ type: "string", pattern: "^[a-z]+$", maxLength: 8 }, "/* ≤ 8 characters, matches ^[a-z]+$ */"],
    [{ type: "array", items: { type: "string" }, minItems: 1, maxItems: 3 }, "a?: string[] /* 1–3 items */"],
    [{ type: "string", description: "Ends the comment */ x" }, String.raw`/* Ends the comment *\/ x */`],
    [{ type: "string", default: "x", deprecated: true }, '/* @deprecated default "x" */'],
    [{ type: "string" }, "tool(input?: { a?: string }): Promise<unknown>"],
    [{ const: "only", description: "Always the same." }, 'a?: "only" }'],
  ])("says of %j what its type can't", (property, expected) => {
    expect(input(property)).toContain(expected);
  });

  it("has the whole of a description that is not long, and the first sentence of a long one", () => {
    expect(input({ type: "string", description: "SQL. Tables: users (id, name)." })).toContain(
      "/* SQL. Tables: users (id, name) */",
    );
    const long = `An id. ${"More words. ".repeat(50)}`;
    expect(input({ type: "string", description: long })).toContain("/* An id */");
  });

  it("names a long union of literals once where it stands in several places", () => {
    const condition = { enum: ["sunny", "mostly sunny", "partly cloudy", "showers", "rainy"] };
    const weather = tool("weather", { type: "object", properties: { condition } });
    const forecast = tool(
      "forecast",
      { type: "object", properties: {} },
      { type: "array", items: condition },
    );
    const union = '"sunny" | "mostly sunny" | "partly cloudy" | "showers" | "rainy"';
    expect(describeCalls([weather]).types).toEqual([]);
    expect(describeCalls([weather]).signatures).toEqual([
      `weather(input?: { condition?: ${union} }): Promise<unknown>`,
    ]);
    expect(describeCalls([weather, forecast])).toEqual({
      types: [`type Condition = ${union};`],
      signatures: [
        "weather(input?: { condition?: Condition }): Promise<unknown>",
        "forecast(): Promise<Condition[]>",
      ],
    });
  });

  it("says once what a property means that many tools have", () => {
    const path = { type: "string", description: "Path of the repository, by default the current one." };
    const properties = { path, mode: { type: "string", description: "How." } };
    const [first, second] = describeCalls([
      tool("log", { type: "object", properties }),
      tool("show", { type: "object", properties: { ...properties, from: path } }),
    ]).signatures;
    expect(first).toContain("path?: string /* Path of the repository, by default the current one */");
    expect(second).toBe(
      "show(input?: { path?: string; mode?: string /* How */; from?: string /* Path of the repository, by default the current one */ }): Promise<unknown>",
    );
  });

  it("keeps the type of a result that has no schema", () => {
    const bytes = { ...tool("read", {}), signature: "read(input: { a: string }): Promise<Uint8Array>" };
    const [signature] = describeCalls([
      { ...bytes, inputSchema: { properties: { a: { type: "string" } } } },
    ]).signatures;
    expect(signature).toMatch(/Promise<Uint8Array>$/u);
    const positional = { ...bytes, callStyle: "positional", signature: "read(a: number): Date" } as const;
    expect(describeCalls([positional]).signatures).toEqual(["read(a: number): Date"]);
  });

  it("prints hostile and huge schemas within bounds", () => {
    const properties = Object.fromEntries(
      Array.from({ length: 2_000 }, (_, at) => [`p${at}`, { type: "string", description: "x ".repeat(100) }]),
    );
    expect(one({ type: "object", properties }).length).toBeLessThan(7_000);
    const recursive = { $ref: "#/$defs/a", $defs: { a: { properties: { next: { $ref: "#/$defs/a" } } } } };
    expect(one(recursive)).toContain("next?: ");
  });
});
