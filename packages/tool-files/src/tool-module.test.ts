import type { ToolFlag } from "@cem/core";
import ts from "typescript";
import { beforeAll, describe, expect, it } from "vitest";
import { typeCheck } from "../scripts/evaluate/type-check.ts";
import { compactJson } from "./canonical-json.ts";
import { generateToolModule, type ToolModule, type ToolModuleNaming } from "./tool-module.ts";
import type { RawToolDefinition } from "./tool-definition.ts";

function generate(
  inputSchema: unknown,
  more: Partial<RawToolDefinition> = {},
  identifier = "tool",
): ToolModule {
  return generateToolModule({ name: "tool", inputSchema, ...more }, { server: "server", identifier });
}

/** The type written for a property `a` of that schema. */
function typeOf(schema: unknown, more: object = {}): string {
  const { code } = generate({ type: "object", properties: { a: schema }, ...more });
  return /\n {2}a\?: ([\s\S]*?);\n\}/.exec(code)?.[1] ?? `no type in ${code}`;
}

function chain(
  length: number,
  link: (next: { $ref: string }, index: number) => unknown,
): Record<string, unknown> {
  const entries = Array.from({ length }, (_, index) => [
    `d${index}`,
    link({ $ref: `#/$defs/d${index + 1}` }, index),
  ]);
  return Object.fromEntries([...entries, [`d${length}`, { type: "string" }]]);
}

describe("generateToolModule", () => {
  it("writes one documented function with named types and one call", () => {
    const module = generateToolModule(
      {
        name: "get-weather",
        description: "Gets the weather.",
        inputSchema: {
          type: "object",
          properties: {
            city: { type: "string", description: "Where" },
            units: { enum: ["metric", "imperial"], default: "metric" },
            since: { type: "string", format: "date", deprecated: true },
            days: { type: "integer", minimum: 1, maximum: 7 },
          },
          required: ["city"],
        },
        outputSchema: { type: "object", properties: { celsius: { type: "number" } }, required: ["celsius"] },
      },
      { server: "weather", identifier: "get_weather" },
    );
    expect(module.code).toBe(`import { callTool } from "../../client/index.ts";

export interface GetWeatherInput {
  /** Where. */
  city: string;
  /** Default: "metric". */
  units?: "metric" | "imperial";
  /** @deprecated Format: date. */
  since?: string;
  /** From 1 to 7. */
  days?: number;
}

export interface GetWeatherOutput {
  celsius: number;
}

/** Gets the weather. */
export async function get_weather(input: GetWeatherInput): Promise<GetWeatherOutput> {
  return callTool<GetWeatherOutput>("weather", "get-weather", input);
}
`);
    expect(module.signature).toBe(
      'get_weather(input: { city: string; units?: "metric" | "imperial"; since?: string; days?: number }): Promise<{ celsius: number }>',
    );
  });

  it("lets the argument be left out where nothing is required", () => {
    expect(generate({ type: "object", properties: { a: {} } }).code).toContain("(input: ToolInput = {})");
    expect(generate({ type: "object", properties: { a: {} }, required: ["a"] }).code).toContain(
      "(input: ToolInput)",
    );
    expect(generate({ type: "object", properties: {} }).signature).toBe("tool(): Promise<unknown>");
  });

  it("says from how many results a type was learned", () => {
    const { code } = generateToolModule(
      { name: "tool" },
      { server: "server", identifier: "tool", learned: { schema: { type: "string" }, results: 3 } },
    );
    expect(code).toContain("learned from 3 observed results");
    expect(code).toContain("export type ToolOutput = string;");
  });

  it("imports the client from where it is told", () => {
    const naming = { server: "s", identifier: "tool", clientModule: "cem:client" };
    expect(generateToolModule({ name: "tool" }, naming).code).toContain(
      'import { callTool } from "cem:client";',
    );
  });
});

describe("the comment of a function", () => {
  const commentOf = (
    definition: Partial<RawToolDefinition>,
    more: Partial<ToolModuleNaming> = {},
  ): string => {
    const naming = { server: "server", identifier: "tool", ...more };
    const { code } = generateToolModule({ name: "a-tool", ...definition }, naming);
    return /\n(\/\*\*[\s\S]*\*\/)\nexport async function/.exec(code)?.[1] ?? "";
  };

  it.each([
    [{ description: "Adds.", title: "Add" }, "/** Adds. */"],
    [{ description: "  ", title: "Add" }, "/** Add */"],
    [{ title: "Add" }, "/** Add */"],
    [{}, "/** a-tool */"],
    [{ description: "One.\n\n\n \n  Two.\nThree." }, "/**\n * One.\n *\n * Two.\n * Three.\n */"],
    [{ description: "x".repeat(1_300) }, `/** ${"x".repeat(1_199)}… */`],
  ])("of %j is %j", (definition, comment) => {
    expect(commentOf(definition)).toBe(comment);
  });

  it("has at most 30 lines", () => {
    expect(commentOf({ description: "line\n".repeat(50) }).split("\n")).toHaveLength(32);
  });

  it("begins with the rules of its findings, each once", () => {
    const flag = (rule: string): ToolFlag => ({ rule, place: "description", excerpt: "" });
    const flags = [flag("hidden-text"), flag("html-comment"), flag("hidden-text")];
    expect(commentOf({ description: "Adds." }, { flags })).toBe(
      "/** [flagged: hidden-text, html-comment] Adds. */",
    );
  });

  it("says where the type of the result is from", () => {
    const learned = (results: number): Partial<ToolModuleNaming> => ({ learned: { schema: {}, results } });
    expect(commentOf({}, learned(1))).toBe(
      "/**\n * a-tool\n *\n * The result's type was learned from 1 observed result: the server states none.\n */",
    );
    expect(commentOf({}, learned(2))).toContain("from 2 observed results:");
    expect(commentOf({ outputSchema: {} }, learned(2))).toBe("/** a-tool */");
  });
});

describe("types of a schema", () => {
  it.each([
    [{ type: ["string", "null"] }, "string | null"],
    [{ type: "string", nullable: true }, "string | null"],
    [{ type: "integer" }, "number"],
    [{ type: "any" }, "unknown"],
    [{ const: { k: [1, null] } }, "{ k: [1, null] }"],
    [{ enum: [true, 1, "x", null, -2.5] }, 'true | 1 | "x" | null | -2.5'],
    [{ type: "array", items: { enum: ["a", "b"] } }, '("a" | "b")[]'],
    [{ type: "array", items: [{ type: "string" }, { type: "number" }] }, "[string, number]"],
    [
      { prefixItems: [{ type: "string" }, {}], minItems: 1, items: { type: "number" } },
      "[string, unknown?, ...number[]]",
    ],
    [{ type: "array", minItems: 1e9, items: { type: "string" } }, "string[]"],
    [{ type: "object" }, "{ [key: string]: unknown }"],
    [{ type: "object", additionalProperties: { type: "number" } }, "{ [key: string]: number }"],
    [{ type: "object", additionalProperties: false }, "{ [key: string]: never }"],
    [{ patternProperties: { "^x-": { type: "boolean" } } }, "{ [key: string]: boolean }"],
    [{ anyOf: [{ type: "string" }, { type: "number" }, { type: "string" }] }, "string | number"],
    [{ type: "string", anyOf: [{ pattern: "a" }, { format: "uri" }] }, "string"],
    [{ type: "object", anyOf: [{ type: "string" }, { type: "null" }] }, "string | null"],
    [{ allOf: [{ type: "string" }] }, "string"],
    [{ not: { type: "string" } }, "unknown"],
    [true, "unknown"],
    [false, "never"],
    [null, "unknown"],
    ["string", "unknown"],
    [[], "unknown"],
    [{ type: 7 }, "unknown"],
    [{ enum: [] }, "unknown"],
    [{ anyOf: [] }, "unknown"],
    [{ anyOf: "x", allOf: 1, oneOf: {} }, "unknown"],
    [{ enum: Array.from({ length: 2_000 }, (_, index) => `v${index}`) }, "string"],
    [{ $ref: "file:///etc/passwd" }, "unknown"],
    [{ $ref: "http://127.0.0.1/schema.json" }, "unknown"],
    [{ $ref: "#/nowhere" }, "unknown"],
    [{ $ref: "#/__proto__/constructor" }, "unknown"],
  ])("reads %j as %s", (schema, expected) => {
    expect(typeOf(schema)).toBe(expected);
  });

  it.each([
    ["#/$defs/a~1b~0c", { $defs: { "a/b~c": { const: 1 } } }],
    ["#/definitions/a%25b", { definitions: { "a%b": { const: 1 } } }],
    ["#/$defs/list/items/0", { $defs: { list: { items: [{ const: 1 }] } } }],
    ["#anchor", { $defs: { x: { $anchor: "anchor", const: 1 } } }],
    [
      "https://example.com/root.json#/$defs/x",
      { $id: "https://example.com/root.json", $defs: { x: { const: 1 } } },
    ],
    ["item.json", { $defs: { x: { $id: "item.json", const: 1 } } }],
    ["#/$defs/constructor", { $defs: { constructor: { const: 1 } } }],
  ])("follows %s", ($ref, more) => {
    const { code } = generate({ type: "object", properties: { a: { $ref } }, ...more });
    const name = /a\?: (\w+);/.exec(code)?.[1];
    expect(code).toContain(`type ${name} = 1;`);
  });

  it("keeps a recursive type recursive", () => {
    const { code } = generate({
      type: "object",
      properties: { children: { type: "array", items: { $ref: "#" } } },
    });
    expect(code).toContain("children?: ToolInput[];");
  });

  it("makes a property required that only an alternative requires", () => {
    const { code } = generate({
      type: "object",
      properties: { a: { type: "string" }, b: { type: "number" } },
      anyOf: [{ required: ["a"] }, { required: ["b"] }],
    });
    expect(code).toContain("  a: unknown;\n} | {\n  b: unknown;");
  });

  it("warns of what is wrong and goes on", () => {
    const { warnings, signature } = generate({ type: "object", properties: [] });
    expect(warnings).toEqual(["`properties` is not an object; it is ignored."]);
    expect(signature).toBe("tool(input?: { [key: string]: unknown }): Promise<unknown>");
  });
});

const EVIL_TEXTS = [
  "*/ export const pwned = 1; /*",
  "**// */ globalThis.pwned = 1; //",
  "a\u2028export const pwned = 1;\u2029*\u200B/ x",
  "`${pwned}`",
  '"; pwned(); "',
  "'\\",
  "line\n@ts-expect-error",
  "@ts-ignore",
  "@ts-nocheck",
  '/// <reference path="/etc/passwd" />',
  "//# sourceMappingURL=http://x/",
  "\uD800 lone \uDFFF",
  "\u001B[2Jgone\u0000",
  "</script><!--",
  "@param {import('fs')} x",
  "ends with \\",
  "ends with *",
];

/** Schemas that blow up, loop or break out in careless generators. */
const EVIL_SCHEMAS: Record<string, unknown> = {
  texts: {
    type: "object",
    properties: Object.fromEntries(
      EVIL_TEXTS.map((text) => [
        text,
        { description: text, title: text, format: text, default: text, enum: [text, 1] },
      ]),
    ),
    required: EVIL_TEXTS,
  },
  names: {
    type: "object",
    properties: JSON.parse(
      '{"__proto__":{"type":"string"},"constructor":{},"new":{},"get":{},"set":{},"readonly":{},"a-b":{},"":{},"1":{},"toString":{"type":"string"},"valueOf":{"const":1},"[key":{},"static":{}}',
    ) as unknown,
  },
  definitions: {
    type: "object",
    properties: {
      a: { $ref: "#/$defs/Promise" },
      b: { $ref: "#/$defs/string" },
      c: { $ref: "#/$defs/*~1 x" },
    },
    $defs: {
      Promise: { type: "object", properties: { a: {} } },
      string: { type: "object" },
      "*/ x": { type: "number" },
    },
  },
  cycle: {
    $ref: "#/$defs/A",
    $defs: { A: { $ref: "#/$defs/B" }, B: { anyOf: [{ $ref: "#/$defs/A" }, { $ref: "#" }] } },
  },
  knot: {
    type: "object",
    properties: { x: { $ref: "#/$defs/X" } },
    $defs: {
      X: { anyOf: [{ type: "object", properties: { p: { $ref: "#/$defs/Y" } } }, { $ref: "#/$defs/Y" }] },
      Y: {
        anyOf: [{ $ref: "#/$defs/X" }, { type: "null" }, { type: "array", items: { $ref: "#/$defs/Y" } }],
      },
    },
  },
  recordCycle: {
    $ref: "#/$defs/A",
    $defs: { A: { type: "object", additionalProperties: { $ref: "#/$defs/A" } } },
  },
  tupleCycle: { $ref: "#/$defs/A", $defs: { A: { prefixItems: [{ $ref: "#/$defs/A" }], minItems: 0 } } },
  allOfDoubling: { $ref: "#/$defs/d0", $defs: chain(30, (next) => ({ allOf: [next, next] })) },
  propertyDoubling: {
    $ref: "#/$defs/d0",
    $defs: chain(30, (next) => ({
      type: "object",
      properties: { l: next, r: next },
      additionalProperties: next,
    })),
  },
  unionDoubling: {
    $ref: "#/$defs/d0",
    $defs: chain(30, (next, index) => ({
      anyOf: [next, { allOf: [next, { properties: { [`p${index}`]: {} } }] }],
    })),
  },
  unionProduct: {
    allOf: Array.from({ length: 24 }, (_, index) => ({
      anyOf: [
        { properties: { [`a${index}`]: { const: 1 } } },
        { properties: { [`b${index}`]: { const: 2 } } },
      ],
    })),
  },
  namedUnionProduct: {
    allOf: Array.from({ length: 24 }, (_, index) => ({ $ref: `#/$defs/u${index}` })),
    $defs: Object.fromEntries(
      Array.from({ length: 24 }, (_, index) => [
        `u${index}`,
        { oneOf: [{ required: [`a${index}`] }, { required: [`b${index}`] }] },
      ]),
    ),
  },
  longChain: { $ref: "#/$defs/d0", $defs: chain(5_000, (next) => ({ anyOf: [next, { type: "null" }] })) },
  deepObjects: nest(5_000, (inner) => ({ type: "object", properties: { n: inner } })),
  deepArrays: nest(5_000, (inner) => ({ type: "array", items: inner })),
  deepUnions: nest(5_000, (inner) => ({ anyOf: [inner, { type: "null" }] })),
  deepAllOf: nest(5_000, (inner) => ({ allOf: [inner, { properties: { a: {} } }] })),
  wide: {
    type: "object",
    properties: Object.fromEntries(
      Array.from({ length: 5_000 }, (_, index) => [`p${index}`, { type: "string" }]),
    ),
  },
  longTuple: { type: "array", items: Array.from({ length: 3_000 }, () => ({ type: "string" })), minItems: 0 },
  everyPointer: {
    type: "object",
    properties: Object.fromEntries(
      Array.from({ length: 60 }, (_, index) => [
        `p${index}`,
        { type: "object", properties: { q: { $ref: `#/properties/p${59 - index}` } } },
      ]),
    ),
  },
  unusedDefinitions: {
    type: "object",
    $defs: { A: { type: "object", properties: { b: { $ref: "#/$defs/B" } } }, B: {} },
  },
  conflicts: {
    type: "object",
    properties: { a: { type: "object", properties: { b: {} } }, c: { type: "number" } },
    required: ["a"],
    additionalProperties: { type: "string" },
    allOf: [{ properties: {}, additionalProperties: false }, { properties: { a: { type: "object" } } }],
  },
  garbage: {
    type: {},
    properties: { a: null, b: 3, c: [[]] },
    required: "a",
    $defs: [],
    items: "x",
    enum: {},
    $ref: 5,
  },
  never: false,
  text: "object",
};

function nest(depth: number, around: (inner: unknown) => unknown): unknown {
  let schema: unknown = { type: "string" };
  for (let level = 0; level < depth; level += 1) schema = around(schema);
  return schema;
}

describe("modules of hostile definitions", () => {
  const definitions = new Map<string, RawToolDefinition>();
  for (const [name, schema] of Object.entries(EVIL_SCHEMAS)) {
    definitions.set(`${name}_input`, { name, inputSchema: schema });
    definitions.set(`${name}_output`, { name, inputSchema: {}, outputSchema: schema });
  }
  for (const [index, text] of EVIL_TEXTS.entries())
    definitions.set(`text_${index}`, { name: text, description: text });
  const modules = new Map<string, ToolModule>();
  let problems: string[] = [];

  beforeAll(() => {
    for (const [identifier, definition] of definitions) {
      modules.set(identifier, generateToolModule(definition, { server: 'a"*/b\n', identifier }));
    }
    problems = typeCheck([...modules].map(([name, { code }]) => ({ file: `server/${name}.ts`, code })));
  });

  it("compile under strict TypeScript", () => {
    expect(problems).toEqual([]);
  });

  it.each([...definitions.keys()])("%s holds an import, types and one function of one call", (identifier) => {
    const code = modules.get(identifier)?.code ?? "";
    const { statements } = ts.createSourceFile("tool.ts", code, ts.ScriptTarget.ESNext, true);
    const others = statements.filter(
      (node) => !ts.isInterfaceDeclaration(node) && !ts.isTypeAliasDeclaration(node),
    );
    const [first, second, ...rest] = others;
    expect(first !== undefined && ts.isImportDeclaration(first)).toBe(true);
    expect(second !== undefined && ts.isFunctionDeclaration(second) && second.name?.text).toBe(identifier);
    expect(second !== undefined && ts.isFunctionDeclaration(second) && second.body?.statements.length).toBe(
      1,
    );
    expect(rest).toEqual([]);
  });

  it.each([...definitions.keys()])("%s stays small, and so does its signature", (identifier) => {
    const { code = "", signature = "" } = modules.get(identifier) ?? {};
    const { inputSchema, outputSchema } = definitions.get(identifier) ?? {};
    const size = String(compactJson([inputSchema, outputSchema])).length;
    expect(code.length).toBeLessThan(size <= 2_048 ? 20_480 : Math.min(size * 10, 1_048_576));
    expect(signature.length).toBeLessThan(2_000);
    expect(signature).not.toMatch(/[\n\u2028\u2029]/);
  });

  it("hold no character that can't be seen", () => {
    for (const { code } of modules.values())
      expect(code).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u);
  });
});
