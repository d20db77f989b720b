import ts from "typescript";
import { beforeAll, describe, expect, it } from "vitest";
import { typeCheck } from "../scripts/evaluate/type-check.ts";
import { compactJson } from "./canonical-json.ts";
import { generateToolModule, type ToolModule } from "./print/tool-module.ts";
import type { RawToolDefinition } from "./tool-definition.ts";

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
  deepObjects: nest(60, (inner) => ({ type: "object", properties: { n: inner } })),
  deepArrays: nest(60, (inner) => ({ type: "array", items: inner })),
  deepUnions: nest(60, (inner) => ({ anyOf: [inner, { type: "null" }] })),
  deepAllOf: nest(60, (inner) => ({ allOf: [inner, { properties: { a: {} } }] })),
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
