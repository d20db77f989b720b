import { describe, expect, it } from "vitest";
import { toolOf } from "../test/tool-tree.ts";

/** The schema of one property of a type, read in a tool's input. */
async function schemaOf(type: string, declarations = "", more: Record<string, string> = {}) {
  const tool = await toolOf(
    `${declarations}\nexport async function tool(input: { value: ${type} }): Promise<void> {}`,
    more,
  );
  return tool.inputSchema.properties?.["value"];
}

describe("a tool's schemas", () => {
  it.each([
    ["string", { type: "string" }],
    ["number", { type: "number" }],
    ["boolean", { type: "boolean" }],
    ["true | false", { type: "boolean" }],
    ["null", { type: "null" }],
    ["unknown", {}],
    ["any", {}],
    ["object", { type: "object" }],
    ["() => void", {}],
    ["Date", { type: "string", format: "date-time" }],
    ["bigint", { type: "integer" }],
    ["string[]", { type: "array", items: { type: "string" } }],
    ["readonly string[]", { type: "array", items: { type: "string" } }],
    ["Array<number>", { type: "array", items: { type: "number" } }],
    ["unknown[]", { type: "array" }],
    ['"a"', { type: "string", const: "a" }],
    ["-1", { type: "number", const: -1 }],
    ['"a" | "b"', { type: "string", enum: ["a", "b"] }],
    ["1 | 2", { type: "number", enum: [1, 2] }],
    ['"a" | 1', { enum: ["a", 1] }],
    ["string | number", { anyOf: [{ type: "string" }, { type: "number" }] }],
    ["string | null", { anyOf: [{ type: "string" }, { type: "null" }] }],
    ["string | unknown", {}],
    ["`id-${number}`", { type: "string" }],
    [
      "[string, number?]",
      { type: "array", prefixItems: [{ type: "string" }, { type: "number" }], minItems: 1, maxItems: 2 },
    ],
    [
      "[a: string, ...rest: number[]]",
      { type: "array", prefixItems: [{ type: "string" }], minItems: 1, items: { type: "number" } },
    ],
    ["Record<string, number>", { type: "object", additionalProperties: { type: "number" } }],
    [
      "{ [key: string]: boolean }",
      { type: "object", properties: {}, additionalProperties: { type: "boolean" } },
    ],
    [
      'Record<"x" | "y", number>',
      { type: "object", properties: { x: { type: "number" }, y: { type: "number" } }, required: ["x", "y"] },
    ],
    ["Partial<{ a: string }>", { type: "object", properties: { a: { type: "string" } } }],
    ["Required<{ a?: string }>", { type: "object", properties: { a: { type: "string" } }, required: ["a"] }],
    [
      'Pick<{ a: string; b: number }, "a">',
      { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
    ],
    [
      'Omit<{ a: string; b: number }, "a">',
      { type: "object", properties: { b: { type: "number" } }, required: ["b"] },
    ],
    ["Readonly<{ a: string }>", { type: "object", properties: { a: { type: "string" } }, required: ["a"] }],
    [
      "{ a: string } & { b?: number }",
      { type: "object", properties: { a: { type: "string" }, b: { type: "number" } }, required: ["a"] },
    ],
    ['Exclude<"a" | "b", "a">', { type: "string", const: "b" }],
    ['{ a: string }["a"]', { type: "string" }],
    ["keyof { a: string; b: number }", { type: "string", enum: ["a", "b"] }],
    [
      '{ [K in "a" | "b"]?: K }',
      {
        type: "object",
        properties: { a: { type: "string", const: "a" }, b: { type: "string", const: "b" } },
      },
    ],
    ["T extends string ? 1 : 2", {}],
    ["Nowhere", {}],
  ])("reads %s", async (type, expected) => {
    expect(await schemaOf(type)).toEqual(expected);
  });

  it.each([
    ["Colour", "enum Colour { Red = 'red', Blue = 'blue' }", { type: "string", enum: ["red", "blue"] }],
    ["Level", "enum Level { Low, High = 5, Higher }", { type: "number", enum: [0, 5, 6] }],
    ["Level.High", "enum Level { Low, High = 5 }", { type: "number", const: 5 }],
    ["(typeof UNITS)[number]", 'const UNITS = ["C", "F"] as const;', { type: "string", enum: ["C", "F"] }],
    [
      "Page<string>",
      "type Page<T> = { items: T[] };",
      {
        type: "object",
        properties: { items: { type: "array", items: { type: "string" } } },
        required: ["items"],
      },
    ],
    [
      "Page",
      "interface Page<T = number> { item: T }",
      { type: "object", properties: { item: { type: "number" } }, required: ["item"] },
    ],
    [
      "B",
      "interface A { a: string } interface B extends A { b?: number }",
      { type: "object", properties: { a: { type: "string" }, b: { type: "number" } }, required: ["a"] },
    ],
    [
      "C",
      "class C { a = 1; b!: string; private c!: string; static d: string; m() {} }",
      { type: "object", properties: { a: {}, b: { type: "string" } }, required: ["a", "b"] },
    ],
    ["C", "class C { constructor(public size: number) {} }", {}],
  ])("reads %s where it is declared as %s", async (type, declarations, expected) => {
    expect(await schemaOf(type, declarations)).toEqual(expected);
  });

  it("follows types into neighbour files, through re-exports and renames", async () => {
    const schema = await schemaOf("Thing", 'import type { Renamed as Thing } from "./index_of_types.ts";', {
      "index_of_types.ts": 'export type { Item as Renamed } from "./_types.ts";',
      "_types.ts":
        'import type * as deep from "./_deep.ts";\n/** A thing. */\nexport interface Item { size: deep.Size }',
      "_deep.ts": 'export * from "./_deeper.ts";',
      "_deeper.ts": 'export type Size = "s" | "m";',
    });
    expect(schema).toEqual({
      type: "object",
      description: "A thing.",
      properties: { size: { type: "string", enum: ["s", "m"] } },
      required: ["size"],
    });
  });

  it("names types that contain themselves", async () => {
    const tool = await toolOf(
      "interface Tree { value: string; children?: Tree[] }\nexport async function tool(input: { tree: Tree }): Promise<Tree> { return input.tree; }",
    );
    const tree = {
      type: "object",
      properties: { value: { type: "string" }, children: { type: "array", items: { $ref: "#/$defs/Tree" } } },
      required: ["value"],
    };
    expect(tool.inputSchema).toEqual({
      type: "object",
      properties: { tree: { $ref: "#/$defs/Tree" } },
      required: ["tree"],
      $defs: { Tree: tree },
    });
    expect(tool.outputSchema).toEqual({ ...tree, $defs: { Tree: tree } });
  });

  it("stays small for types that would unfold without end", async () => {
    const wide = Array.from({ length: 30 }, (_, n) => `type T${n} = { a: T${n + 1}; b: T${n + 1} };`).join(
      "\n",
    );
    expect(JSON.stringify(await schemaOf("T0", `${wide}\ntype T30 = string;`)).length).toBeLessThan(200_000);
    expect(await schemaOf("Grow<string>", "type Grow<T> = { value: T; next: Grow<T[]> };")).toBeDefined();
    expect(await schemaOf(`string${"[]".repeat(5_000)}`)).toMatchObject({ type: "array" });
    expect(await schemaOf("A", "type A = B; type B = A;")).toBeDefined();
  });

  it("reads comments, tags and defaults of properties", async () => {
    const tool = await toolOf(`
      const LIMIT = 10;
      interface Input {
        /**
         * How many.
         * @minimum 1
         * @maximum 50
         * @default LIMIT
         * @integer
         */
        limit: number;
        order?: string; // Which order.
        /** @deprecated use order */
        sort?: string;
        "odd name": string;
        __proto__: string;
        constructor: number;
      }
      export async function tool({ limit = 5, order = "asc" }: Input): Promise<void> {}
    `);
    expect(tool.inputSchema.properties).toEqual({
      limit: { type: "integer", description: "How many.", minimum: 1, maximum: 50, default: 5 },
      order: { type: "string", description: "Which order.", default: "asc" },
      sort: { type: "string", deprecated: true, description: "Deprecated: use order" },
      "odd name": { type: "string" },
      ["__proto__"]: { type: "string" },
      constructor: { type: "number" },
    });
    expect(Object.keys(tool.inputSchema.properties ?? {})).toContain("__proto__");
    expect(tool.inputSchema.required).toEqual(["odd name", "__proto__", "constructor"]);
    expect(tool.signature).toBe(
      'tool(input: { limit?: number; order?: string; sort?: string; "odd name": string; "__proto__": string; constructor: number }): Promise<void>',
    );
  });

  it.each([
    ["{ a: string } & ({ b: string } | { c: string })", "allOf"],
    ["{ a: string } & { b: number }", "properties"],
  ])("of %s have %s", async (type, keyword) => {
    expect(await schemaOf(type)).toHaveProperty(keyword);
  });

  it.each([
    ["a declared constant", "typeof LIMIT", "declare const LIMIT: number;", {}],
    [
      "a negative and a positive constant",
      "typeof LIMITS",
      "const LIMITS = { low: -1, high: +2 } as const;",
      {
        type: "object",
        properties: { low: { type: "number", const: -1 }, high: { type: "number", const: 2 } },
        required: ["low", "high"],
      },
    ],
    ["a constant that is computed", "typeof LIMIT", "const LIMIT = 1 + 1;", {}],
    [
      "an enum that counts on",
      "Level",
      'enum Level { Low = 3, Middle, Name = "x", High = 9 }',
      {
        enum: [3, 4, "x", 9],
      },
    ],
    [
      "a generic with a default",
      "Box",
      "interface Box<T = string> { in: T }",
      {
        type: "object",
        properties: { in: { type: "string" } },
        required: ["in"],
      },
    ],
    [
      "a generic with a constraint",
      "Box",
      "interface Box<T extends number> { in: T }",
      {
        type: "object",
        properties: { in: { type: "number" } },
        required: ["in"],
      },
    ],
  ])("are read from %s", async (_what, type, declarations, expected) => {
    expect(await schemaOf(type, declarations)).toEqual(expected);
  });

  it("keep the description of the inner of two named types", async () => {
    const schema = await schemaOf(
      "Outer",
      "/** Inner. */\ninterface Inner { a: string }\n/** Outer. */\ntype Outer = Inner;",
    );
    expect(schema?.description).toBe("Inner.");
  });

  it("have the keywords of tags", async () => {
    const { inputSchema } = await toolOf(`
      export interface Input {
        /**
         * @min 1
         * @exclusiveMaximum 9
         * @multipleOf 2
         * @example 4
         * @example 6
         */
        count: number;
        /**
         * @minLength 2
         * @maxLength 5
         * @pattern ^[a-z]+$
         * @title The name
         * @defaultValue "abc"
         */
        name: string;
        /**
         * @minItems 1
         * @maxItems x
         * @default null
         */
        list?: string[];
        /** @default true */
        flag?: boolean;
        /** @default some words */
        text?: string;
      }
      export async function tool(input: Input): Promise<void> {}
    `);
    expect(inputSchema.properties).toEqual({
      count: { type: "number", minimum: 1, exclusiveMaximum: 9, multipleOf: 2, examples: [4, 6] },
      name: {
        type: "string",
        minLength: 2,
        maxLength: 5,
        pattern: "^[a-z]+$",
        title: "The name",
        default: "abc",
      },
      list: { type: "array", items: { type: "string" }, minItems: 1, default: null },
      flag: { type: "boolean", default: true },
      text: { type: "string" },
    });
    expect(inputSchema.required).toEqual(["count"]);
  });

  it("have the descriptions of tags only for the properties that these name", async () => {
    const { inputSchema } = await toolOf(`
      /**
       * @param input - The input.
       * @param input.a.b - Too deep.
       * @param input.c - The c.
       */
      export async function tool(input: { a: { b: string }; c: string }): Promise<void> {}
    `);
    expect(inputSchema.properties).toEqual({
      a: { type: "object", properties: { b: { type: "string" } }, required: ["b"] },
      c: { type: "string", description: "The c." },
    });
  });

  it.each([
    ["keyof { a: string; b: string }", { type: "string", enum: ["a", "b"] }],
    ["keyof Missing", { type: "string" }],
    ["{ a: string; b: number }['b']", { type: "number" }],
    ["[string, number][number]", { anyOf: [{ type: "string" }, { type: "number" }] }],
    ["Record<string, boolean>['x']", {}],
  ])("of %s are %j", async (type, expected) => {
    expect(await schemaOf(type)).toEqual(expected);
  });

  it("require of alternatives what all of them require", async () => {
    const { inputSchema } = await toolOf(
      "export async function tool(input: { a: string; b: string } | { a: string; c?: number }): Promise<void> {}",
    );
    expect(inputSchema.required).toEqual(["a"]);
    expect(Object.keys(inputSchema.properties ?? {})).toEqual(["a", "b", "c"]);
    expect(inputSchema.anyOf).toHaveLength(2);
  });

  it("keep the type's text with a description", async () => {
    const tool = await toolOf(
      "export async function tool(input: {\n/** When.\n * @int */\nat: number;\n/** The day. */\nday: Date }): Promise<Date> {}",
    );
    expect(tool.inputSchema.properties).toEqual({
      at: { type: "integer", description: "When." },
      day: { type: "string", format: "date-time", description: "The day." },
    });
    expect(tool.signature).toBe("tool(input: { at: number; day: Date }): Promise<Date>");
  });

  it.each([
    ["*", {}],
    ["?", {}],
    ["?string", { anyOf: [{ type: "string" }, { type: "null" }] }],
    ["!Date", { type: "string", format: "date-time" }],
    ["Array.<number>", { type: "array", items: { type: "number" } }],
    ["Object<string, number>", { type: "object", additionalProperties: { type: "number" } }],
    ["Object", { type: "object" }],
    ["not a type", {}],
  ])("are read from JSDoc's {%s}", async (type, expected) => {
    const { inputSchema } = await toolOf("export {};", {
      "index.js": `/**\n * @param {string} first\n * @param {${type}} second\n * @param {number} [third] - Third.\n */\nexport function tool(first, second, third) {}`,
    });
    expect(inputSchema.properties).toEqual({
      first: { type: "string" },
      second: expected,
      third: { type: "number", description: "Third." },
    });
    expect(inputSchema.required).toEqual(["first", "second"]);
  });
});
