import type { JsonSchema, JsonValue } from "@cem/core";
import { describe, expect, it } from "vitest";
import { createSchemaValidator } from "./schema-validation.ts";
import type { Violation } from "./violation.ts";

const validator = createSchemaValidator();

async function violationOf(schema: JsonSchema, args: JsonValue): Promise<Violation | undefined> {
  const check = await validator.prepare(schema);
  if (!check.validated) throw new Error(check.reason);
  return check.check(args);
}

async function messageOf(schema: JsonSchema, args: JsonValue): Promise<string | undefined> {
  return (await violationOf(schema, args))?.message;
}

const property = (schema: object): JsonSchema => ({ properties: { a: schema } }) as JsonSchema;
const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `name${index}`);

describe("describeViolation", () => {
  describe("of a missing property", () => {
    it("names every missing one", async () => {
      const schema = { required: ["x", "b", "c"] };
      expect(await violationOf(schema, { b: 1 })).toEqual({
        path: "x",
        message: "`x` and `c` are missing",
      });
      expect(await messageOf(property(schema), { a: {} })).toBe("`a.x` and `a.b` and `a.c` are missing");
    });

    it("suggests an unknown property for a single missing one", async () => {
      const schema = { properties: { city: {}, cities: {} }, required: ["city"] };
      expect(await messageOf(schema, { citty: 1 })).toBe("`city` is missing; `citty` is not an argument");
      // A known property is no misspelling, and neither is one of several missing ones.
      expect(await messageOf(schema, { cities: 1 })).toBe("`city` is missing");
      const two = { required: ["city", "town"] };
      expect(await messageOf(two, { citty: 1 })).toBe("`city` and `town` are missing");
    });

    it("compares the first 1,000 properties", async () => {
      const unknown = (count: number): JsonValue =>
        Object.fromEntries([...names(count), "citty"].map((name) => [name, 1]));
      const schema = { required: ["city"] };
      expect(await messageOf(schema, unknown(999))).toContain("`citty` is not an argument");
      expect(await messageOf(schema, unknown(1_000))).toBe("`city` is missing");
    });
  });

  describe("of an unknown property", () => {
    const schema = { properties: { city: {}, days: {} }, additionalProperties: false };

    it("suggests the nearest name", async () => {
      expect(await violationOf(schema, { dayz: 1 })).toEqual({
        path: "dayz",
        message: "`dayz` is not an argument; did you mean `days`?",
      });
    });

    it("lists the allowed names", async () => {
      expect(await messageOf(schema, { zzzzz: 1 })).toBe("`zzzzz` is not an argument; allowed: city, days");
      expect(await messageOf({ additionalProperties: false }, { z: 1 })).toBe(
        "`z` is not an argument; allowed: none",
      );
      expect(await messageOf({ unevaluatedProperties: false }, { z: 1 })).toBe(
        "`z` is not an argument; allowed: none",
      );
    });

    it("gives its whole path, shortened", async () => {
      const nested = property({ items: schema });
      expect(await violationOf(nested, { a: [{}, { x: 1 }] })).toEqual({
        path: "a[1].x",
        message: "`a[1].x` is not an argument; allowed: city, days",
      });
      const long = "z".repeat(300);
      expect(await messageOf(schema, { [long]: 1 })).toContain(`\`${"z".repeat(200)}\` is not`);
    });

    it("lists up to 20 names", async () => {
      const many = (count: number): JsonSchema => ({
        properties: Object.fromEntries(names(count).map((name) => [name, {}])),
        additionalProperties: false,
      });
      expect(await messageOf(many(20), { zzzzz: 1 })).toMatch(/name18, name19$/);
      expect(await messageOf(many(22), { zzzzz: 1 })).toMatch(/name18, name19 and 2 more$/);
    });
  });

  it.each([
    [{ type: "string" }, 1, "`a` must be a string, not a number"],
    [{ type: "integer" }, "1", "`a` must be an integer, not a string"],
    [{ type: "object" }, [], "`a` must be an object, not an array"],
    [{ type: "array" }, {}, "`a` must be an array, not an object"],
    [{ type: "null" }, true, "`a` must be null, not a boolean"],
    [{ type: "string" }, null, "`a` must be a string, not null"],
    [{ type: ["string", "null"] }, 1, "`a` must be a string or null, not a number"],
    [{ enum: ["x", 1, null] }, 2, '`a` must be one of "x", 1, null'],
    [{ const: { b: 1 } }, 2, '`a` must be {"b":1}'],
    [{ const: "y".repeat(58) }, 2, `\`a\` must be "${"y".repeat(58)}"`],
    [{ const: "y".repeat(59) }, 2, `\`a\` must be "${"y".repeat(59)}…`],
    [
      { anyOf: [{ type: "string" }, { type: "string", minLength: 1 }, { type: "null" }] },
      1,
      forms(": string, null"),
    ],
    [{ oneOf: [{ type: "string" }, { const: 1 }] }, 2, forms(": string, 1")],
    [{ anyOf: [{ type: "string" }, false] }, 2, forms("")],
    [
      {
        oneOf: [
          {
            type: "object",
            properties: { kind: { const: "a" }, n: { type: "number" } },
            required: ["kind", "n"],
          },
          { type: "object", properties: { kind: { const: "b" }, s: true }, required: ["kind"] },
        ],
      },
      { kind: "a", s: "x" },
      forms(': { kind: "a", n }, { kind: "b", s? }'),
    ],
    [{ pattern: "^x$" }, "y", "`a` must match the pattern ^x$"],
    [{ pattern: `^${"x".repeat(300)}$` }, "y", `\`a\` must match the pattern ^${"x".repeat(199)}`],
    [{ format: "date" }, "y", "`a` must be a valid date, such as 2026-06-21"],
    [{ uniqueItems: true }, [1, 1], "`a` must not have the same item twice"],
    [{ minimum: 3 }, 2, "`a` must be >= 3"],
    [{ not: {} }, 2, "`a` is not allowed"],
  ])("of %j by %j is %s", async (schema, value, message) => {
    expect(await violationOf(property(schema), { a: value })).toEqual({
      path: "a",
      message,
    });
  });

  it("of the arguments as a whole speaks of them", async () => {
    expect(await violationOf({ type: "object" }, [])).toEqual({
      path: "",
      message: "they must be an object, not an array",
    });
    expect(await messageOf({ anyOf: [{ required: ["a"] }] }, {})).toBe("they have none of the allowed forms");
  });

  it("gives paths as code writes them", async () => {
    const schema: JsonSchema = {
      additionalProperties: { type: "array", items: { properties: { "x/y~z": { type: "string" } } } },
    };
    expect(await violationOf(schema, { list: [{}, { "x/y~z": 1 }] })).toMatchObject({
      path: "list[1].x/y~z",
    });
    expect(await violationOf({ additionalProperties: { type: "string" } }, { "7": 1 })).toMatchObject({
      path: "7",
    });
    const versions: JsonSchema = { additionalProperties: { additionalProperties: { type: "string" } } };
    expect(await violationOf(versions, { a: { "1b": 1 } })).toMatchObject({ path: "a.1b" });
    expect(await violationOf(versions, { a: { b1: 1 } })).toMatchObject({ path: "a.b1" });
    expect(await violationOf(versions, { a: { "12": 1 } })).toMatchObject({ path: "a[12]" });
  });
});

describe("describeViolation of a result", () => {
  const messageOfResult = async (schema: JsonSchema, result: JsonValue): Promise<string | undefined> => {
    const check = await validator.prepare(schema);
    return check.validated ? check.check(result, "result")?.message : check.reason;
  };

  it.each([
    [{ type: "string" }, 1, "`/a` must be a string, not a number: it is 1"],
    [{ type: "string" }, null, "`/a` must be a string, not null"],
    [{ type: "string" }, [1], "`/a` must be a string, not an array"],
    [{ const: "x" }, true, '`/a` must be "x": it is true'],
    [{ maxLength: 3 }, "abcd", '`/a` must NOT have more than 3 characters: it is "abcd"'],
    [{ pattern: "^x" }, "y".repeat(100), `\`/a\` must match the pattern ^x: it is "${"y".repeat(59)}…`],
    [{ anyOf: [{ type: "string" }] }, 1, "`/a` has none of the allowed forms: string: it is 1"],
    [{ minItems: 2 }, [1], "`/a` must NOT have fewer than 2 items"],
    [{ required: ["b", "c"] }, {}, "`/a/b` and `/a/c` are missing"],
    [{ additionalProperties: false }, { "b/c~": 1 }, "`/a/b~1c~0` is not in the schema; allowed: none"],
  ])("for %j and %j names the place and shows what came", async (schema, value, message) => {
    expect(await messageOfResult(property(schema), { a: value })).toBe(message);
  });

  it("of the whole speaks of it", async () => {
    expect(await messageOfResult({ type: "object" }, 1)).toBe("it must be an object, not a number: it is 1");
    expect(await messageOfResult({ anyOf: [{ required: ["a"] }] }, {})).toBe(
      "it has none of the allowed forms",
    );
  });
});

function forms(types: string): string {
  return `\`a\` has none of the allowed forms${types}`;
}
