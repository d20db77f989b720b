import type { CatalogSnapshot, JsonSchema, ToolDefinition } from "@cem/core";
import { describe, expect, it } from "vitest";
import { callProgram, readArguments } from "./call-program.ts";

function toolWith(properties: Record<string, JsonSchema>, more: JsonSchema = {}): ToolDefinition {
  return {
    server: "crm",
    name: "update",
    kind: "local",
    description: "",
    inputSchema: { type: "object", properties, ...more },
    callStyle: "object",
    signature: "",
    module: "./servers/crm/index.ts",
  };
}

const tool = toolWith({
  name: { type: "string" },
  count: { type: "integer" },
  price: { type: ["number", "null"] },
  urgent: { type: "boolean" },
  tags: { type: "array", items: { type: "string" } },
  where: { type: "object" },
  level: { enum: ["low", "high"] },
  key: { anyOf: [{ type: "integer" }, { type: "string" }] },
  note: { anyOf: [{ type: "string" }, { type: "null" }] },
  any: {},
});

describe("callProgram", () => {
  it("calls a tool of a server whose name has a dot", () => {
    const dotted = { ...tool, server: "git.hub", module: "./servers/git.hub/index.ts" };
    const catalog = { servers: [{ name: "git.hub", tools: [dotted] }] } as unknown as CatalogSnapshot;
    expect(callProgram("git.hub.update", ["count=5"], catalog)).toBe(
      'import { update } from "./servers/git.hub/index.ts";\nreturn await update({"count":5});',
    );
  });
});

describe("readArguments", () => {
  it.each([
    ["name=5", { name: "5" }],
    ["name=a=b", { name: "a=b" }],
    ["name=", { name: "" }],
    ["name=true", { name: "true" }],
    ["count=5", { count: 5 }],
    ["price=2.5", { price: 2.5 }],
    ["price=null", { price: null }],
    ["urgent=false", { urgent: false }],
    ["count=five", { count: "five" }],
    ['tags=["a","b"]', { tags: ["a", "b"] }],
    ['where={"a":1}', { where: { a: 1 } }],
    ["level=high", { level: "high" }],
    ["key=7", { key: 7 }],
    ["key=seven", { key: "seven" }],
    ["note=5", { note: "5" }],
    ["note=true", { note: "true" }],
    ["note=null", { note: null }],
    ["any=7", { any: 7 }],
    ["any=seven", { any: "seven" }],
    ['{"count":1,"name":"x"}', { count: 1, name: "x" }],
  ])("reads %s", (word, args) => {
    expect(readArguments([word], tool)).toEqual(args);
  });

  it.each([
    ["name", '"name" is not an argument'],
    ["=x", '"=x" is not an argument'],
    ["{nonsense}", "The argument is not valid JSON"],
  ])("refuses %s", (word, message) => {
    expect(() => readArguments([word], tool)).toThrow(message);
  });

  it("refuses an argument that is given twice", () => {
    expect(() => readArguments(["name=a", "name=b"], tool)).toThrow("name is given twice");
  });

  it("takes any name, since its tool says which there are", () => {
    const open = toolWith({}, { additionalProperties: true });
    expect(JSON.stringify(readArguments(["x=1", "__proto__=2"], open))).toBe('{"x":1,"__proto__":2}');
  });
});
