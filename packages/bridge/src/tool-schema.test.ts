import type { JsonSchema } from "@cem/core";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { ToolSchema } from "./define-tool.ts";
import { createSchemaValidator } from "./schema-validation.ts";
import { assertObjectInput, checkValue, isStandardSchema, toJsonSchema } from "./tool-schema.ts";

const validator = createSchemaValidator();

/** A schema of a library, whose validation gives fixed issues. */
function failing(
  ...issues: { message: string; path?: (PropertyKey | { key: PropertyKey })[] }[]
): ToolSchema {
  return { "~standard": { version: 1, vendor: "test", validate: () => ({ issues }) } };
}

describe("isStandardSchema", () => {
  it("tells a library's schema from a JSON Schema", () => {
    expect([isStandardSchema(z.string()), isStandardSchema({ type: "string" })]).toEqual([true, false]);
  });
});

describe("checkValue", () => {
  it("returns the output of a library's schema", async () => {
    const schema = z.object({ day: z.coerce.date(), limit: z.number().default(3) });
    expect(await checkValue(schema, { day: "2026-01-02" }, "arguments", validator)).toEqual({
      ok: true,
      value: { day: new Date("2026-01-02"), limit: 3 },
    });
  });

  it("returns the value itself for a JSON Schema", async () => {
    const value = { a: 1 };
    expect(await checkValue({ type: "object" }, value, "arguments", validator)).toEqual({ ok: true, value });
    expect(await checkValue({ type: "array" }, value, "arguments", validator)).toEqual({
      ok: false,
      violation: { path: "", message: "they must be an array, not an object" },
    });
    expect(await checkValue({ type: "strange" }, value, "arguments", validator)).toEqual({ ok: true, value });
  });

  it.each([
    [[{ message: "Is wrong.", path: ["a", 1, { key: "b" }] }], "a[1].b", "`a[1].b`: Is wrong"],
    [[{ message: "first" }, { message: "second" }], "", "first"],
    [[{ message: "e.g. this" }], "", "e.g. this"],
    [[], "", "is not valid"],
  ])("describes %j", async (issues, path, message) => {
    expect(await checkValue(failing(...issues), 1, "arguments", validator)).toEqual({
      ok: false,
      violation: { path, message },
    });
  });
});

describe("checkValue of a result", () => {
  it("gives the place as a JSON Pointer", async () => {
    const issue = { message: "Is wrong.", path: ["a", 1, { key: "b/c" }] };
    expect(await checkValue(failing(issue), 1, "result", validator)).toEqual({
      ok: false,
      violation: { path: "/a/1/b~1c", message: "`/a/1/b~1c`: Is wrong" },
    });
  });

  it("lets through what can't be checked in time, unlike arguments", async () => {
    const schema = { type: "string", pattern: "(.{0,900})[cd]$" };
    const value = "a".repeat(1_000_000);
    expect(await checkValue(schema, value, "result", validator)).toEqual({ ok: true, value });
    expect(await checkValue(schema, value, "arguments", validator)).toMatchObject({
      ok: false,
      violation: { unchecked: true },
    });
  });
});

describe("toJsonSchema", () => {
  const schema = z.object({ a: z.string().default("x") });

  it("converts the input or the output of a library's schema, without $schema", () => {
    expect(toJsonSchema(schema, "input")).toEqual({
      type: "object",
      properties: { a: { type: "string", default: "x" } },
    });
    expect(toJsonSchema(schema, "output")).toMatchObject({ required: ["a"] });
    expect(toJsonSchema(z.object({ day: z.date() }), "input")).toMatchObject({ properties: { day: {} } });
  });

  it("asks for draft 2020-12", () => {
    const targets: unknown[] = [];
    const library = {
      "~standard": {
        ...(failing()["~standard" as never] as object),
        jsonSchema: {
          input: (options: unknown) => {
            targets.push(options);
            return { type: "object" };
          },
        },
      },
    } as unknown as ToolSchema;
    expect(toJsonSchema(library, "input")).toEqual({ type: "object" });
    expect(targets).toEqual([{ target: "draft-2020-12", libraryOptions: { unrepresentable: "any" } }]);
    // This library can't convert outputs.
    expect(toJsonSchema(library, "output")).toBeUndefined();
  });

  it("returns a JSON Schema unchanged and undefined for what can't be converted", () => {
    const json: JsonSchema = { type: "object" };
    expect(toJsonSchema(json, "input")).toBe(json);
    expect(toJsonSchema(undefined, "input")).toBeUndefined();
    expect(toJsonSchema(failing(), "input")).toBeUndefined();
  });
});

describe("assertObjectInput", () => {
  it("accepts objects and schemas without a type", () => {
    expect(() => assertObjectInput("crm.find", { type: "object" })).not.toThrow();
    expect(() => assertObjectInput("crm.find", {})).not.toThrow();
  });

  it.each([
    ["string", '"string"'],
    [["object", "null"], '["object","null"]'],
  ])("refuses %j", (type, text) => {
    expect(() => assertObjectInput("crm.find", { type })).toThrow(
      expect.objectContaining({
        code: "TOOL_INVALID",
        message: `The input of crm.find is of type ${text}. A tool takes one object: wrap it, as in { value: … }.`,
        details: { tool: "crm.find" },
      }) as Error,
    );
  });
});
