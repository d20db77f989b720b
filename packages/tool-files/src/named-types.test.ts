import { describe, expect, it } from "vitest";
import { generateToolModule, type ToolModule } from "./print/tool-module.ts";

function generate(inputSchema: unknown, outputSchema?: unknown): ToolModule {
  return generateToolModule(
    { name: "tool", inputSchema, outputSchema },
    { server: "server", identifier: "tool" },
  );
}

/** The declarations of a module, without import and function. */
function declarations(inputSchema: unknown): string {
  const { code } = generate(inputSchema);
  return code.slice(code.indexOf("\n\n") + 2, code.indexOf("/** tool */")).trim();
}

const S = { type: "string" };
const N = { type: "number" };

describe("named types", () => {
  it("are declared where they are referred to, with their description", () => {
    expect(
      declarations({
        type: "object",
        properties: {
          a: { $ref: "#/$defs/user-name" },
          b: { $ref: "#/$defs/user-name" },
          c: { $ref: "#/$defs/flag" },
        },
        $defs: {
          "user-name": { type: "object", description: "A user */", properties: { n: S } },
          flag: { enum: [1, 2], description: "" },
          unused: {},
        },
      }),
    ).toBe(`export interface ToolInput {
  a?: UserName;
  b?: UserName;
  c?: Flag;
}

/** A user *\\/ */
interface UserName {
  n?: string;
}

type Flag = 1 | 2;`);
  });

  it("have names of their own", () => {
    const code = declarations({
      type: "object",
      properties: {
        a: { $ref: "#/$defs/x" },
        b: { $ref: "#/definitions/x" },
        c: { $ref: "#/$defs/string" },
        d: { $ref: "#/$defs/7" },
      },
      $defs: { x: { const: 1 }, string: { const: 3 }, "7": { const: 4 } },
      definitions: { x: { const: 2 } },
    });
    expect(code).toContain("  a?: X;\n  b?: X2;\n  c?: StringType;\n  d?: Type7;\n");
    expect(code).toContain("type X = 1;\n\ntype X2 = 2;\n\ntype StringType = 3;\n\ntype Type7 = 4;");
  });

  it("begin where objects are nested more than four deep", () => {
    const nested = (levels: number): object =>
      levels === 0 ? S : { type: "object", properties: { [`n${levels}`]: nested(levels - 1) } };
    expect(declarations(nested(5))).not.toContain("interface N");
    expect(declarations(nested(6))).toMatch(
      / {10}n2\?: N2;\n[\s\S]*\n\ninterface N2 \{\n {2}n1\?: string;\n\}$/,
    );
  });

  it("never consist of themselves", () => {
    const { code, warnings } = generate({
      type: "object",
      properties: { a: { $ref: "#/$defs/A" } },
      $defs: { A: { anyOf: [{ $ref: "#/$defs/B" }, S] }, B: { anyOf: [{ $ref: "#/$defs/A" }, N] } },
    });
    expect(code).toContain("type A = unknown;");
    expect(warnings).toEqual([]);
  });

  it.each([
    ["#/$defs/t", "unknown", []],
    ["#/$defs/f", "never", []],
    ["#/$defs/text", "unknown", ["A `$ref` points to nothing in its document; its type is unknown."]],
    ["other.json", "unknown", ["A `$ref` points to nothing in its document; its type is unknown."]],
    ["#/$defs/%E0%A4%A", "unknown", ["A `$ref` points to nothing in its document; its type is unknown."]],
    ["#/$defs/%C3%A9", "C3A9", []],
    ["#dynamic", "Dynamic", []],
    ["#old", "Old", []],
    ["#/$defs/inner#x", "unknown", ["A `$ref` points to nothing in its document; its type is unknown."]],
    ["inner.json#/properties/p", "P", []],
    ["https://x.example/root.json#/$defs/d", "D", []],
    ["https://x.example/root.json", "ToolInput", []],
  ])("of the reference %s is %s", ($ref, expected, warned) => {
    const { code, warnings } = generate({
      $id: "https://x.example/root.json#top",
      type: "object",
      properties: { a: { $ref } },
      $defs: {
        t: true,
        f: false,
        text: "x",
        é: { const: 1 },
        d: { $dynamicAnchor: "dynamic", const: 2 },
        o: { id: "#old", const: 3 },
        inner: { $id: "inner.json", properties: { p: { const: 4 } } },
      },
    });
    expect(/a\?: (.*);/.exec(code)?.[1]).toBe(expected);
    expect(warnings).toEqual(warned);
  });

  it.each(["$ref", "$dynamicRef", "$recursiveRef"])("follow %s", (keyword) => {
    expect(declarations({ type: "object", properties: { n: { [keyword]: "#" } } })).toContain(
      "n?: ToolInput;",
    );
  });
});

describe("the whole schema", () => {
  it.each([
    [true, "{ [key: string]: unknown }"],
    [false, "{ [key: string]: unknown }"],
    [undefined, "{ [key: string]: unknown }"],
    [5, "{ [key: string]: unknown }"],
    [S, "string"],
    [
      { anyOf: [{ required: ["a"] }, { required: ["b"] }] },
      "{\n  a: unknown;\n  [key: string]: unknown;\n} | {\n  b: unknown;\n  [key: string]: unknown;\n}",
    ],
  ])("%j as input is %s", (schema, type) => {
    expect(declarations(schema)).toBe(`export type ToolInput = ${type};`);
  });

  it.each([
    [true, "unknown"],
    [false, "never"],
    ["x", "unknown"],
    [N, "number"],
  ])("%j as output is %s", (schema, type) => {
    expect(generate({}, schema).code).toContain(`export type ToolOutput = ${type};`);
  });

  it("is optional as input where it accepts an empty object", () => {
    const isOptional = (schema: unknown): boolean => generate(schema).code.includes("ToolInput = {}");
    expect(isOptional({ $ref: "#/$defs/a", $defs: { a: { properties: { n: N } } } })).toBe(true);
    expect(isOptional({ $ref: "#/$defs/a", $defs: { a: { required: ["n"] } } })).toBe(false);
    expect(isOptional({ anyOf: [{ required: ["n"] }, { properties: { m: N } }] })).toBe(true);
    expect(isOptional({ anyOf: [{ required: ["n"] }, { required: ["m"] }] })).toBe(false);
    expect(isOptional({ allOf: [{ required: ["n"] }, { properties: { m: N } }] })).toBe(false);
    expect(isOptional({ allOf: [{ properties: { n: N } }, { properties: { m: N } }] })).toBe(true);
    expect(isOptional({ type: "array" })).toBe(false);
    expect(isOptional(S)).toBe(false);
  });
});
