import type { ToolFlag } from "@cem/core";
import { describe, expect, it } from "vitest";
import type { RawToolDefinition } from "../tool-definition.ts";
import { generateToolModule, type ToolModule, type ToolModuleNaming } from "./tool-module.ts";

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

describe("generateToolModule", () => {
  it("says of a tool that may delete that a call needs a yes", () => {
    const annotated = (more: object) => generate({}, { description: "Clears.", annotations: more }).code;
    expect(annotated({ destructiveHint: true })).toContain("each call needs the user's yes");
    expect(annotated({ destructiveHint: true, readOnlyHint: true })).not.toContain("yes");
  });

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
  /** Where */
  city: string;
  /** default "metric" */
  units?: "metric" | "imperial";
  /** @deprecated date */
  since?: string;
  /** integer 1–7 */
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

  it("lets a required argument with a default be left out, which a result always has", () => {
    const schema = {
      type: "object",
      properties: { type: { enum: ["png", "jpeg"], default: "png" } },
      required: ["type"],
    };
    const module = generate(schema, { outputSchema: schema });
    expect(module.signature).toBe(
      'tool(input?: { type?: "png" | "jpeg" }): Promise<{ type: "png" | "jpeg" }>',
    );
  });

  it("lets the argument be left out where nothing is required", () => {
    expect(generate({ type: "object", properties: { a: {} } }).code).toContain("(input: ToolInput = {})");
    expect(generate({ type: "object", properties: { a: {} }, required: ["a"] }).code).toContain(
      "(input: ToolInput)",
    );
    expect(generate({ type: "object", properties: {} }).signature).toBe("tool(): Promise<unknown>");
  });

  it("writes bytes in a result as what code receives: the path of a file", () => {
    const image = {
      title: "ImageContent",
      type: "object",
      properties: { type: { const: "image" }, data: { type: "string" }, mimeType: { type: "string" } },
      required: ["type", "data", "mimeType"],
    };
    const resource = {
      properties: {
        type: { const: "resource" },
        resource: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
      },
      required: ["type", "resource"],
    };
    const part = { $ref: "#/$defs/ImageContent" };
    const { signature } = generate(undefined, {
      outputSchema: {
        type: "object",
        properties: { result: { type: "array", items: part }, file: resource, kind: { const: image } },
        required: ["result", "file"],
        $defs: { ImageContent: image },
      },
    });
    const handle = (type: string): string =>
      `{ type: "${type}"; mimeType: string; size: number; path: string }`;
    expect(signature).toContain(`result: ${handle("image")}[]`);
    expect(signature).toContain(
      `file: ${handle("resource")} | { type: "resource"; resource: { text: string } }`,
    );
    const media = {
      properties: { type: { enum: ["image", "audio", "blob"] }, data: { type: "string" } },
      required: ["type", "data"],
    };
    expect(generate(undefined, { outputSchema: media }).signature).toContain(
      'Promise<({ type: "image" | "audio"; mimeType: string; size: number; path: string }) | { type: "blob"; data: string }>',
    );
    const others = {
      type: "object",
      properties: { type: { const: "chart" }, data: { type: "string" } },
      required: ["type", "data"],
    };
    expect(generate(undefined, { outputSchema: others }).signature).toContain(
      '{ type: "chart"; data: string }',
    );
    // The input of a tool is left as it is.
    expect(generate({ type: "object", properties: { image } }).signature).toContain("data: string");
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
  ])("of %j is %j", (definition, comment) => {
    expect(commentOf(definition)).toBe(comment);
  });

  it("has the whole description, and says where it ends at a limit", () => {
    const lines = Array.from({ length: 900 }, (_, at) => `Line ${at}.`);
    const inputSchema = { type: "object", properties: { city: { type: "string", description: "Where." } } };
    const comment = commentOf({ description: lines.join("\n"), inputSchema });
    expect(comment.match(/Line \d+\./gu)).toEqual(lines);
    const { code } = generateToolModule(
      { name: "a-tool", description: "@*/ ".repeat(5_000), inputSchema },
      { server: "server", identifier: "tool" },
    );
    expect(code).toMatch(/\/\*\* Where \*\/\n {2}city\?: string;/u);
    const cut = commentOf({ description: "x".repeat(20_001) });
    expect(cut).toContain(`${"x".repeat(19_999)}…\n`);
    expect(cut).toContain("The rest of this description, beyond 20000 characters, is in tools.lock.json.");
  });

  it("begins with the rules of its findings, each once", () => {
    const flag = (rule: string): ToolFlag => ({ rule, place: "description", excerpt: "" });
    const flags = [flag("hidden-text"), flag("html-comment"), flag("hidden-text")];
    expect(commentOf({ description: "Adds." }, { flags })).toBe(
      "/** [flagged: hidden-text, html-comment] Adds. */",
    );
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
