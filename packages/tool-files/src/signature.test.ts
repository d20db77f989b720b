import { describe, expect, it } from "vitest";
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
