import type { JsonSchema } from "@cem/core";
import { describe, expect, it } from "vitest";
import { CHECKPOINT_KEYWORD, prepareSchema } from "./schema-preparation.ts";

/** The prepared schema, or the reason why there is none. */
function prepared(schema: object): object | string {
  const result = prepareSchema(schema as JsonSchema);
  return result.ok ? result.schema : result.reason;
}

/** A schema of a given depth, in which the root is the first level. */
function nested(depth: number): object {
  let schema: object = {};
  for (let level = 1; level < depth; level += 1) schema = { not: schema };
  return schema;
}

const here = { [CHECKPOINT_KEYWORD]: true };

describe("prepareSchema", () => {
  it.each([
    [undefined, "2020-12"],
    [7, "2020-12"],
    ["https://json-schema.org/draft/2020-12/schema", "2020-12"],
    ["https://json-schema.org/draft/2019-09/schema", "2019-09"],
    ["http://json-schema.org/draft-07/schema#", "draft-07"],
    ["http://json-schema.org/draft-06/schema#", "draft-07"],
    ["http://json-schema.org/draft-04/schema#", "draft-07"],
    ["http://json-schema.org/draft-03/schema#", "draft-07"],
    ["http://json-schema.org/draft-05/schema#", "2020-12"],
    ["https://example.com/own", "2020-12"],
  ])("reads the dialect %s as %s and removes it", ($schema, dialect) => {
    const original = { $schema, type: "object" } as JsonSchema;
    expect(prepareSchema(original)).toEqual({ ok: true, schema: { type: "object" }, dialect, unusable: [] });
    expect(original["$schema"]).toBe($schema);
  });

  it("refuses a schema of more than 256 KiB", () => {
    const own = JSON.stringify({ description: "" }).length;
    const limit = 256 * 1024;
    expect(prepared({ description: "x".repeat(limit - own) })).toBeTypeOf("object");
    expect(prepared({ description: "x".repeat(limit - own + 1) })).toBe(
      `the schema has ${limit + 1} bytes, more than ${limit}`,
    );
    expect(prepared({ description: "ä".repeat((limit - own) / 2 + 1) })).toContain(`more than ${limit}`);
  });

  it("refuses a schema of more than 64 levels", () => {
    expect(prepared(nested(64))).toBeTypeOf("object");
    expect(prepared(nested(65))).toBe("the schema is nested deeper than 64 levels");
    expect(prepared({ a: nested(64), b: {} })).toBe("the schema is nested deeper than 64 levels");
  });

  it("refuses a schema that exhausts the stack", () => {
    expect(prepared(nested(100_000))).toBe("the schema is nested too deeply");
  });

  it.each<[object, object]>([
    [{ minimum: 0, exclusiveMinimum: true }, { exclusiveMinimum: 0 }],
    [{ maximum: 9, exclusiveMaximum: false }, { maximum: 9 }],
    [{ exclusiveMaximum: true }, {}],
    [
      { items: [{ type: "string" }], additionalItems: false },
      { prefixItems: [{ type: "string" }], items: false },
    ],
    [
      { properties: { exclusiveMinimum: true, a: { minimum: 1, exclusiveMinimum: true } } },
      { properties: { exclusiveMinimum: true, a: { exclusiveMinimum: 1 } } },
    ],
    [{ default: { exclusiveMinimum: true } }, { default: { exclusiveMinimum: true } }],
  ])("writes keywords of earlier drafts as later ones have them: %j", (schema, expected) => {
    expect(prepared(schema)).toEqual(expected);
  });

  it("leaves lists of items where the dialect has them", () => {
    const items = [{ type: "string" }];
    expect(prepared({ $schema: "http://json-schema.org/draft-07/schema#", items })).toEqual({ items });
  });

  it("adds no checkpoint to a schema without references", () => {
    const schema = { properties: { a: { type: "string", $id: "x", $anchor: "y" } } };
    expect(prepared(schema)).toEqual(schema);
  });

  it.each([
    "items",
    "additionalItems",
    "unevaluatedItems",
    "contains",
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
  ])("adds one to the schema in %s, which may be used many times", (keyword) => {
    const schema = { properties: { a: { [keyword]: { type: "string" } } } };
    expect(prepared(schema)).toEqual({ properties: { a: { [keyword]: { ...here, type: "string" } } } });
    expect(prepared({ [keyword]: false })).toEqual({ [keyword]: false });
    const $schema = "http://json-schema.org/draft-07/schema#";
    expect(prepared({ $schema, [keyword]: [{}] })).toEqual({ [keyword]: [{}] });
  });

  it("adds one to each schema in patternProperties", () => {
    const schema = { patternProperties: { "^a": { type: "string" }, "^b": true } };
    expect(prepared(schema)).toEqual({
      patternProperties: { "^a": { ...here, type: "string" }, "^b": true },
    });
  });

  it.each(["const", "enum", "default", "examples"])("leaves the data in %s alone", (keyword) => {
    const schema = { properties: { a: { [keyword]: { items: {} } } } };
    expect(prepared(schema)).toEqual(schema);
  });

  it.each(["$ref", "$recursiveRef", "$dynamicRef"])("adds one to the root for %s", (keyword) => {
    expect(prepared({ properties: { a: { [keyword]: "#" } } })).toEqual({
      ...here,
      properties: { a: { [keyword]: "#" } },
    });
  });

  it("adds one to each place that a pointer names", () => {
    const schema = {
      properties: {
        a: { $ref: "#/$defs/x" },
        b: { $ref: "#/$defs/y~1z~0/items" },
        c: { $ref: "#/$defs/p%20q" },
      },
      $defs: { x: {}, "y/z~": { items: {} }, "p q": {}, other: {} },
    };
    expect(prepared(schema)).toEqual({
      ...here,
      ...schema,
      $defs: { x: here, "y/z~": { items: here }, "p q": here, other: {} },
    });
  });

  it.each(["$id", "$anchor", "$dynamicAnchor"])(
    "adds one to each subschema that is named by %s",
    (keyword) => {
      const schema = { properties: { a: { $ref: "#name" }, b: { [keyword]: "name" } } };
      expect(prepared(schema)).toEqual({
        ...here,
        properties: { a: { $ref: "#name" }, b: { ...here, [keyword]: "name" } },
      });
    },
  );

  it.each([
    "#/$defs/none",
    "#/$defs/text/length",
    "#/$defs/list",
    "#/$defs/nothing",
    "#/$defs/nothing/deeper",
    "#/$defs/toString",
    "#/$defs/%",
    "/properties",
    "x/$defs/here",
    "https://example.com/#/properties",
  ])("leaves places alone for the reference %s", ($ref) => {
    const schema = {
      properties: { a: { $ref } },
      $defs: { here: {}, text: "text", list: [{}], nothing: null, "%": "" },
    };
    expect(prepared(schema)).toEqual({ ...here, ...schema });
  });

  it("takes a property that is called $ref for what it is", () => {
    const schema = { properties: { $ref: { type: "string" } }, examples: [null] };
    expect(prepared(schema)).toEqual(schema);
  });
});
