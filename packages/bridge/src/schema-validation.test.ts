import type { JsonSchema, JsonValue } from "@cem/core";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createSchemaValidator } from "./schema-validation.ts";

const validator = createSchemaValidator();

/** The complaint about arguments, or why there is no check. */
async function judge(schema: JsonSchema, args: JsonValue): Promise<string> {
  const check = await validator.prepare(schema);
  if (!check.validated) return `unvalidated: ${check.reason}`;
  return check.check(args)?.message ?? (check.unvalidated && `in part: ${check.unvalidated}`) ?? "valid";
}

const forecast: JsonSchema = {
  type: "object",
  properties: {
    city: { type: "string", minLength: 2 },
    days: { type: "integer", minimum: 1, maximum: 14 },
    unit: { enum: ["celsius", "fahrenheit"] },
    tags: { type: "array", items: { type: "string", pattern: "^[a-z]+$" }, uniqueItems: true },
    filter: { type: "object", properties: { limit: { type: "number" } }, required: ["limit", "from"] },
    when: { anyOf: [{ type: "string" }, { type: "null" }] },
    day: { type: "string", format: "date" },
  },
  required: ["city"],
  additionalProperties: false,
};

describe("createSchemaValidator", () => {
  it("says which names a pattern allows", async () => {
    const schema: JsonSchema = {
      patternProperties: { "^x-": { type: "string" } },
      additionalProperties: false,
    };
    expect(await judge(schema, { type: "a" })).toBe(
      "`type` is not an argument; allowed: names that match ^x-",
    );
  });

  it.each([
    [{ city: "Oslo", days: 3, tags: ["a", "b"], when: null, day: "2026-02-28" }, "valid"],
    [{}, "`city` is missing"],
    [{ town: "Oslo" }, "`city` is missing"],
    [{ citty: "Oslo" }, "`city` is missing; `citty` is not an argument"],
    [{ city: "O" }, "`city` must NOT have fewer than 2 characters"],
    [{ city: "Oslo", days: "3" }, "`days` must be an integer, not a string"],
    [{ city: "Oslo", days: 30 }, "`days` must be <= 14"],
    [{ city: "Oslo", unit: "kelvin" }, '`unit` must be one of "celsius", "fahrenheit"'],
    [{ city: "Oslo", dayz: 3 }, "`dayz` is not an argument; did you mean `day`?"],
    [
      { city: "Oslo", zzzzzzzz: 3 },
      "`zzzzzzzz` is not an argument; allowed: city, days, unit, tags, filter, when, day",
    ],
    [{ city: "Oslo", tags: ["a", "B"] }, "`tags[1]` must match the pattern ^[a-z]+$"],
    [{ city: "Oslo", tags: ["a", "a"] }, "`tags` must not have the same item twice"],
    [{ city: "Oslo", filter: {} }, "`filter.limit` and `filter.from` are missing"],
    [{ city: "Oslo", when: 1 }, "`when` has none of the allowed forms: string, null"],
    [{ city: "Oslo", day: "2026-02-30" }, "`day` must be a valid date, such as 2026-06-21"],
  ])("judges %j: %s", async (args, verdict) => {
    expect(await judge(forecast, args as JsonValue)).toBe(verdict);
  });

  it("reads each draft by its own rules", async () => {
    const tuple = [{ type: "string" }, { type: "number" }];
    const draft7 = {
      $schema: "http://json-schema.org/draft-07/schema#",
      properties: { a: { items: tuple } },
    };
    const draft2019 = {
      $schema: "https://json-schema.org/draft/2019-09/schema",
      properties: { a: { items: tuple } },
    };
    const draft2020 = { properties: { a: { prefixItems: tuple, items: false } } };
    for (const schema of [draft7, draft2019, draft2020]) {
      expect(await judge(schema as unknown as JsonSchema, { a: ["x", 1] })).toBe("valid");
      expect(await judge(schema as unknown as JsonSchema, { a: ["x", "y"] })).toBe(
        "`a[1]` must be a number, not a string",
      );
    }
  });

  it("compiles a schema once, also when it comes again as another object", async () => {
    const schema: JsonSchema = { type: "object", properties: { once: { type: "string" } } };
    const first = await validator.prepare(schema);
    expect(await validator.prepare(schema)).toBe(first);
    expect(await validator.prepare(structuredClone(schema))).toBe(first);
  });

  it("caches up to 2,000 schemas by their text", async () => {
    let deep: JsonSchema = {};
    for (let level = 0; level < 65; level += 1) deep = { not: deep };
    /** A schema that is refused before it is compiled, which is quick. */
    const refused = (index: number): JsonSchema => ({ ...deep, title: String(index) });
    const own = createSchemaValidator();
    const first = await own.prepare(refused(0));
    for (let index = 1; index < 2_000; index += 1) await own.prepare(refused(index));
    expect(await own.prepare(refused(0))).toBe(first);
    await own.prepare(refused(2_000));
    expect(await own.prepare(refused(0))).not.toBe(first);
  });

  it("gives the reason why a schema can't be used, shortened", async () => {
    const name = "x".repeat(500);
    const reason = await judge({ properties: { a: { $ref: `#${name}` } } }, {});
    expect(reason).toHaveLength("unvalidated: the schema can't be used: ".length + 200);
    const part = await judge({ properties: { a: { pattern: `(${name}` } } }, {});
    expect(part).toHaveLength("in part:  can't be used; all else is checked".length + 200);
  });

  it("requires no property whose name is no text", async () => {
    expect(await judge({ required: ["a", 5, null] } as unknown as JsonSchema, { a: 1 })).toBe("valid");
    expect(await judge({ $ref: "#/default", default: { required: [5] } }, {})).toBe("`5` is missing");
  });

  it("leaves the schema as it is", async () => {
    const schema: JsonSchema = { type: "object", properties: { a: { $ref: "#" } } };
    const before = structuredClone(schema);
    await judge(schema, { a: {} });
    expect(schema).toEqual(before);
  });

  it.each([
    [
      "a reference to somewhere else",
      { properties: { a: { $ref: "http://127.0.0.1:1/x.json" } } },
      /can't resolve/,
    ],
    ["a pattern of names that is none", { patternProperties: { "(": {} } }, /can't be used/],
    ["a reference to itself", { $ref: "#" }, /its references have no end/],
    [
      "references in a circle",
      { $ref: "#/a", a: { $ref: "#/b" }, b: { $ref: "#/a" } },
      /references have no end/,
    ],
    ["alternatives that are none", { properties: { a: { anyOf: [] } } }, /`anyOf` or `oneOf` is empty/],
    ["bounds that are none", { properties: { a: { minimum: null } } }, /can't be used/],
    ["a huge one", { description: "x".repeat(300_000) }, /has \d+ bytes, more than 262144/],
  ])("goes without a check for %s", async (_name, schema, reason) => {
    expect(await judge({ type: "object", ...schema }, { a: "b" })).toMatch(reason);
  });

  it.each([
    ["a pattern that is none", { pattern: "(" }, /^in part: the pattern \(/],
    ["a pattern that needs backtracking", { pattern: "^(?!-)a" }, /^in part: the pattern \^/],
    ["a type that is none", { type: "str" }, /^in part: the type "str" can't be used; all else is checked$/],
    ["any type", { type: "any" }, /^valid$/],
    ["no values", { enum: [] }, /^valid$/],
    ["keywords of draft 3", { id: "#a", type: "string", required: true }, /^valid$/],
  ])("checks what stands beside %s", async (_name, a, message) => {
    const schema = { properties: { a, b: { type: "string" } }, required: ["b"] } as JsonSchema;
    expect(await judge(schema, { a: "b", b: "x" })).toMatch(message);
    expect(await judge(schema, { a: "b", b: 5 })).toBe("`b` must be a string, not a number");
  });

  it("refuses nothing that would fit one alternative alone if all of the schema could be used", async () => {
    const oneOf = [{ type: "str" }, { type: "int" }];
    expect(await judge({ properties: { a: { oneOf } } }, { a: "b" })).toMatch(/^in part: the type/);
  });

  it.each<[object, JsonValue]>([
    [{ type: "string", enum: ["a"], nullable: true }, "b"],
    [{ type: ["string", "null"], nullable: true }, 5],
    [{ enum: ["a"], nullable: true }, "b"],
    [{ oneOf: [{ type: "string" }, { type: "number", nullable: true }], nullable: true }, true],
    [{ $ref: "#/$defs/A", nullable: true }, "b"],
    [{ type: "object", allOf: [{ required: ["x"] }], nullable: true }, {}],
  ])("takes null for %j", async (a, wrong) => {
    const schema = { properties: { a }, $defs: { A: { type: "number" } } } as JsonSchema;
    expect(await judge(schema, { a: null })).toBe("valid");
    expect(await judge(schema, { a: wrong })).toContain("`a");
    const not = { ...schema, properties: { a: { ...a, nullable: false } } } as JsonSchema;
    expect(await judge(not, { a: wrong })).toContain("`a");
  });

  it("reads a schema that nothing fits as `false`", async () => {
    const schema = { properties: { per_page: {}, t: { prefixItems: [{}], items: { not: true } } } };
    const closed = { ...schema, additionalProperties: { not: {} } } as JsonSchema;
    expect(await judge(closed, { perPage: 5 })).toBe(
      "`perPage` is not an argument; did you mean `per_page`?",
    );
    expect(await judge(closed, { t: [1, 2] })).toContain("`t`");
    expect(await judge({ patternProperties: { a: false } }, { a: 1 })).toBe("`a` is not allowed");
    expect(await judge({ properties: { a: { not: { const: 1 } } } }, { a: 1 })).toBe(
      '`a` must not fit {"const":1}',
    );
  });

  it("refuses no result for the form of a text", async () => {
    const check = await validator.prepare({
      properties: {
        at: { oneOf: [{ format: "date" }, { format: "date-time" }] },
        to: { type: "string", format: "email" },
        n: { type: "number" },
      },
    });
    if (!check.validated) throw new Error(check.reason);
    expect(check.check({ at: "2026-02-28" }, "result")).toBeUndefined();
    expect(check.check({ to: "Ada" }, "result")).toBeUndefined();
    expect(check.check({ to: "Ada", n: "x" }, "result")?.path).toBe("/n");
    expect(check.check({ to: "Ada" })?.message).toBe("`to` must be a valid email, such as ada@example.com");
  });

  it("checks lists of items and bounds as earlier drafts write them", async () => {
    const schema: object = { type: "array", items: [{ type: "string" }] };
    const bounds: object = { type: "number", minimum: 0, exclusiveMinimum: true };
    const all = { properties: { a: schema, b: bounds } } as JsonSchema;
    expect(await judge(all, { a: ["x"], b: 1 })).toBe("valid");
    expect(await judge(all, { a: [5] })).toContain("`a[0]` must be a string");
    expect(await judge(all, { b: 0 })).toContain("`b` must be > 0");
  });

  it("understands patterns as JavaScript does", async () => {
    const schema = (pattern: string): JsonSchema => ({ properties: { a: { type: "string", pattern } } });
    expect(await judge(schema("^\\p{Lu}[\\w.-]+\\u0041$"), { a: "Éa.-A" })).toBe("valid");
    expect(await judge(schema("^(?<year>\\d{4})-\\d\\d$"), { a: "2026-11" })).toBe("valid");
    expect(await judge(schema("b"), { a: "abc" })).toBe("valid");
    expect(await judge(schema("^\\/x$"), { a: "/y" })).toContain("must match");
  });

  it("lets no schema refer to another by its name", async () => {
    const named: JsonSchema = { $id: "https://example.com/named", type: "object" };
    expect(await judge(named, {})).toBe("valid");
    expect(await judge({ ...named, required: ["a"] }, {})).toBe("`a` is missing");
    expect(await judge({ $ref: "https://example.com/named" }, {})).toMatch(/can't resolve/);
  });

  it("lets no schema take the names of another, or of the schema of schemas", async () => {
    const dialect = "http://json-schema.org/draft-07/schema";
    const named = (least: number): JsonSchema => ({
      $schema: `${dialect}#`,
      $id: "https://example.com/one",
      properties: { a: { $ref: `${dialect}#` }, b: { minLength: least } },
    });
    for (const $id of ["https://example.com/one", dialect, `${dialect}#`])
      await judge({ $schema: `${dialect}#`, $id: "x:y", $defs: { x: { $id } } }, {});
    for (const $id of [dialect, `${dialect}#`]) await judge({ $schema: `${dialect}#`, $id }, {});
    expect(await judge(named(2), { b: "x" })).toContain("`b`");
    expect(await judge(named(3), { a: { type: 5 } })).toContain("`a");
  });

  it("takes no code from a schema", async () => {
    const hostile = '"];globalThis.broken = 1;//';
    const schema = {
      properties: { [hostile]: { const: hostile } },
      required: [hostile],
      $comment: hostile,
    } as JsonSchema;
    expect(await judge(schema, { [hostile]: "x" })).toContain("must be");
    expect(Reflect.has(globalThis, "broken")).toBe(false);
  });

  it("is not fooled by the names of object prototypes", async () => {
    const schema = JSON.parse(
      '{"properties":{"__proto__":{"type":"string"},"a":{}},"additionalProperties":false}',
    ) as JsonSchema;
    expect(await judge(schema, JSON.parse('{"constructor":1}') as JsonValue)).toContain(
      "`constructor` is not an argument",
    );
    expect(await judge({ required: ["toString"] }, {})).toBe("`toString` is missing");
  });
});

describe("hostile schemas and values together", () => {
  it("can't make a pattern run away", async () => {
    const schema: JsonSchema = { properties: { a: { type: "string", pattern: "^(a|a)*(a+)+$" } } };
    expect(await judge(schema, { a: `${"a".repeat(50_000)}!` })).toContain("must match the pattern");
  });

  it("can't make a format run away", async () => {
    const schema: JsonSchema = { properties: { a: { format: "email" }, b: { format: "uri" } } };
    expect(await judge(schema, { a: "a".repeat(2_000_000), b: `http://${"a".repeat(2_000_000)}` })).toBe(
      "valid",
    );
  });

  it("can't make references multiply", async () => {
    const levels = Object.fromEntries(
      Array.from({ length: 40 }, (_, level) => [
        `l${level}`,
        { allOf: [{ $ref: `#/$defs/l${level + 1}` }, { $ref: `#/$defs/l${level + 1}` }] },
      ]),
    );
    const schema = { $ref: "#/$defs/l0", $defs: { ...levels, l40: { type: "object" } } } as JsonSchema;
    expect(await judge(schema, {})).toBe("they are too large or too deeply nested to be checked");
  });

  it("can't make recursion multiply", async () => {
    const node = { type: "object", anyOf: [1, 2, 3].map(() => ({ properties: { next: { $ref: "#" } } })) };
    let value: JsonValue = 1;
    for (let depth = 0; depth < 30; depth += 1) value = { next: value };
    expect(await judge(node as JsonSchema, value)).toBe(
      "they are too large or too deeply nested to be checked",
    );
  });

  it("can't make comparing items run away", async () => {
    // A check has half a second by the clock: on a busy machine most of it may go to others.
    const clock = vi.spyOn(performance, "now").mockImplementation(() => process.cpuUsage().user / 1000);
    onTestFinished(() => clock.mockRestore());
    const started = performance.now();
    const items = Array.from({ length: 20_000 }, (_, index) => ({ index }));
    const schema: JsonSchema = { properties: { a: { type: "array", uniqueItems: true } } };
    expect(await judge(schema, { a: items })).toBe("valid");
    expect(performance.now() - started).toBeLessThan(2_000);
    expect(
      await judge(schema, {
        a: [
          { b: 1, c: 2 },
          { c: 2, b: 1 },
        ],
      }),
    ).toBe("`a` must not have the same item twice");
  });

  it("can't exhaust the stack", async () => {
    const value = JSON.parse(`${'{"a":'.repeat(50_000)}1${"}".repeat(50_000)}`) as JsonValue;
    expect(await judge({ type: "object", properties: { a: { $ref: "#" } } }, value)).toMatch(
      /too deeply nested|`a/,
    );
  });
});
