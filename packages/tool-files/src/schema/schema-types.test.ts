import { describe, expect, it } from "vitest";
import { generateToolModule, type ToolModule } from "../print/tool-module.ts";

function generate(inputSchema: unknown, outputSchema?: unknown): ToolModule {
  return generateToolModule(
    { name: "tool", inputSchema, outputSchema },
    { server: "server", identifier: "tool" },
  );
}

/** The type written for a property `a`. */
function typeOf(schema: unknown, more: object = {}): string {
  const { code } = generate({ type: "object", properties: { a: schema }, ...more });
  return /\n {2}a\?: ([\s\S]*?);\n\}/.exec(code)?.[1] ?? `no type in ${code}`;
}

const S = { type: "string" };
const N = { type: "number" };
const THEN = "then" as string;
const inCase = (properties: object): object => ({ [THEN]: { properties } });

describe("index signatures", () => {
  it.each([
    [
      { properties: { n: N }, additionalProperties: S },
      "{\n    n?: number;\n    [key: string]: string | number | undefined;\n  }",
    ],
    [
      { properties: { n: N }, required: ["n"], additionalProperties: S },
      "{\n    n: number;\n    [key: string]: string | number;\n  }",
    ],
    [
      { properties: { n: N }, additionalProperties: true },
      "{\n    n?: number;\n    [key: string]: unknown;\n  }",
    ],
    [{ properties: { n: N }, additionalProperties: false }, "{\n    n?: number;\n  }"],
    [{ properties: { n: N } }, "{\n    n?: number;\n  }"],
    [{ properties: { n: N }, additionalProperties: { not: {} } }, "{\n    n?: number;\n  }"],
    [
      { required: ["n", "m"], propertyNames: { enum: ["n", "m"] }, additionalProperties: S },
      "{\n    n: string;\n    m: string;\n    [key: string]: string;\n  }",
    ],
    [
      { properties: { k: S }, if: {}, ...inCase({ k: N, x: N }), else: { properties: { y: S } } },
      "{\n    k?: string;\n    x?: unknown;\n    y?: unknown;\n  }",
    ],
    [
      {
        properties: { k: S },
        allOf: [{ if: {}, ...inCase({ x: N }) }],
        dependentSchemas: { k: { properties: { y: N } } },
      },
      "{\n    k?: string;\n    y?: unknown;\n    x?: unknown;\n  }",
    ],
    [{ properties: { k: S }, ...inCase({ x: N }), additionalProperties: false }, "{\n    k?: string;\n  }"],
    [{ type: "object", required: ["n"] }, "{\n    n: unknown;\n    [key: string]: unknown;\n  }"],
    [{ type: "object", properties: {} }, "{ [key: string]: unknown }"],
    [{ properties: {}, additionalProperties: false }, "{ [key: string]: never }"],
    [{ patternProperties: { a: N, b: S } }, "{ [key: string]: number | string }"],
    [
      { patternProperties: { a: N }, additionalProperties: { type: "boolean" } },
      "{ [key: string]: number | boolean }",
    ],
    [
      { properties: { n: { enum: ["a".repeat(60)] } }, additionalProperties: S },
      `{\n    n?: "${"a".repeat(60)}";\n    [key: string]: unknown;\n  }`,
    ],
    [
      { properties: { n: { enum: [1, 2, 3, 4, 5, 6] } }, additionalProperties: S },
      "{\n    n?: 1 | 2 | 3 | 4 | 5 | 6;\n    [key: string]: string | 1 | 2 | 3 | 4 | 5 | 6 | undefined;\n  }",
    ],
    [
      { properties: { n: { enum: [1, 2, 3, 4, 5, 6, 7] } }, additionalProperties: S },
      "{\n    n?: 1 | 2 | 3 | 4 | 5 | 6 | 7;\n    [key: string]: unknown;\n  }",
    ],
    [
      { properties: { n: { type: "array", items: N } }, additionalProperties: S },
      "{\n    n?: number[];\n    [key: string]: unknown;\n  }",
    ],
    [{ properties: { toString: S, n: N } }, "{\n    toString?: unknown;\n    n?: number;\n  }"],
    [{ properties: { toString: S }, required: ["toString", 5] }, "{\n    toString: string;\n  }"],
    [{ properties: { n: { type: "number", required: true } } }, "{\n    n: number;\n  }"],
  ])("%j is %s", (schema, expected) => {
    expect(typeOf({ type: "object", ...schema })).toBe(expected);
  });
});

describe("arrays", () => {
  it.each([
    [{}, "unknown[]"],
    [{ items: true }, "unknown[]"],
    [{ items: [] }, "unknown[]"],
    [{ prefixItems: [S, N] }, "[string, number]"],
    [{ prefixItems: [S, N], minItems: 0 }, "[string?, number?]"],
    [{ prefixItems: [S, N], minItems: 0.5 }, "[string, number?]"],
    [{ prefixItems: [S, N], minItems: 9 }, "[string, number]"],
    [{ prefixItems: [S, N], minItems: -1 }, "[string, number]"],
    [{ prefixItems: [S], maxItems: 1 }, "[string]"],
    [{ prefixItems: [S], maxItems: 2 }, "[string, ...unknown[]]"],
    [{ prefixItems: [S], items: false, maxItems: 2 }, "[string, ...unknown[]]"],
    [{ prefixItems: [S], items: { enum: [1, 2] } }, "[string, ...(1 | 2)[]]"],
    [{ items: [S], additionalItems: N }, "[string, ...number[]]"],
    [{ items: [{ enum: [1, 2] }], minItems: 0 }, "[(1 | 2)?]"],
    [{ items: [{ enum: [1, 2] }] }, "[1 | 2]"],
    [{ prefixItems: Array.from({ length: 32 }, () => ({ const: 1 })) }, `[${"1, ".repeat(31)}1]`],
    [{ prefixItems: Array.from({ length: 33 }, () => S) }, "string[]"],
    [{ prefixItems: Array.from({ length: 33 }, () => S), items: N }, "(string | number)[]"],
    [
      { items: { allOf: [{ properties: { n: N } }, { properties: { s: S } }] } },
      "({\n    n?: number;\n  } & {\n    s?: string;\n  })[]",
    ],
  ])("%j is %s", (schema, expected) => {
    expect(typeOf({ type: "array", ...schema })).toBe(expected);
  });
});

describe("alternatives", () => {
  it.each([
    [{ oneOf: [S, N] }, "string | number"],
    [{ anyOf: [S], oneOf: [N] }, "string & number"],
    [{ allOf: [S, {}] }, "string"],
    [{ allOf: [{}, true] }, "unknown"],
    [{ anyOf: [S, {}] }, "unknown"],
    [{ anyOf: [S, false] }, "string"],
    [{ anyOf: [false] }, "never"],
    [{ anyOf: [S, { anyOf: [N, S] }] }, "string | number"],
    [
      { type: "object", properties: { n: N }, allOf: [{ required: ["x"] }] },
      "{\n    n?: number;\n  } & {\n    x: unknown;\n  }",
    ],
    [{ type: ["string", { type: "number" }] }, "string | number"],
    [{ type: "integer", nullable: true }, "number | null"],
    [
      { type: ["object", "array", "boolean", "null"] },
      "{ [key: string]: unknown } | unknown[] | boolean | null",
    ],
    [{ required: ["n"] }, "{\n    n: unknown;\n    [key: string]: unknown;\n  }"],
    [{ items: S }, "string[]"],
    [{ prefixItems: [S] }, "[string]"],
    [{ additionalProperties: N }, "{ [key: string]: number }"],
    [{ additionalProperties: false }, "unknown"],
    [{ const: null }, "null"],
    [{ const: undefined, type: "string" }, "unknown"],
    [{ enum: [null, null, "x"] }, 'null | "x"'],
    [{ enum: ["x".repeat(400)] }, "string"],
    [{ const: [1, { a: "x", "b-c": [] }] }, '[1, { a: "x"; "b-c": [] }]'],
    [{ const: {} }, "{ [key: string]: never }"],
    [{ const: Array.from({ length: 400 }, () => "x") }, "unknown[]"],
    [{ const: { a: "x".repeat(400) } }, "{ [key: string]: unknown }"],
    [
      { enum: [...Array.from({ length: 500 }, (_, index) => index), null, [1], { a: 1 }] },
      "number | null | unknown[] | { [key: string]: unknown }",
    ],
  ])("%j is %s", (schema, expected) => {
    expect(typeOf(schema)).toBe(expected);
  });

  it("fit on lines of 110 characters", () => {
    const values = Array.from({ length: 40 }, (_, index) => `value${index}`);
    const lines = typeOf({ enum: values }).split("\n");
    expect(lines.length).toBe(5);
    expect(lines.slice(1).every((line) => line.startsWith('    "value') && line.length <= 120)).toBe(true);
    expect(lines.slice(0, -1).every((line) => line.endsWith('" |') && line.length > 90)).toBe(true);
    expect(
      lines
        .join(" ")
        .split(" | ")
        .map((part) => part.trim()),
    ).toEqual(values.map((value) => `"${value}"`));
  });

  it("are at most 1,000, or nothing is said", () => {
    const choices = (count: number): unknown => ({
      anyOf: Array.from({ length: count }, (_, index) => ({ const: index })),
    });
    expect(typeOf(choices(1_000))).toMatch(/^0 \| 1 \| /);
    expect(typeOf(choices(1_001))).toBe("unknown");
  });

  it("are left out of an intersection that would have more than 64 members", () => {
    const pair = (index: number): object => ({
      anyOf: [{ required: [`a${index}`] }, { required: [`b${index}`] }],
    });
    const count = (pairs: number): number =>
      typeOf({ allOf: Array.from({ length: pairs }, (_, index) => pair(index)) }).split(" & ").length;
    expect([count(2), count(6), count(7), count(20)]).toEqual([2, 6, 6, 6]);
  });
});
