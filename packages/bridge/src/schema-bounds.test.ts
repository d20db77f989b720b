import type { JsonSchema, JsonValue } from "@cem/core";
import { RE2JS } from "re2js";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createSchemaValidator } from "./schema-validation.ts";

const validator = createSchemaValidator();

/** The complaint about arguments, or why there is no check. */
async function judge(schema: JsonSchema, args: JsonValue): Promise<string> {
  const check = await validator.prepare(schema);
  if (!check.validated) return `unvalidated: ${check.reason}`;
  return check.check(args)?.message ?? (check.unvalidated && `in part: ${check.unvalidated}`) ?? "valid";
}

/** A schema that refers to another, or itself, twice. */
function twice($ref: string): object {
  return { anyOf: [1, 2].map(() => ({ properties: { next: { $ref } }, required: ["next"] })) };
}

describe("schemas", () => {
  it.each([
    ["times", "(?:abcdefghijklmnop){999}"],
    ["times in groups", "((?:ab(?:cd){9}[(]){9}){9}"],
    ["least times", "x\\p{L}{900,}"],
    ["a quote of a bracket", "\\Q[\\E(?:abcdefghijklmnop){999}"],
  ])("can't have many patterns repeat %s", async (_, pattern) => {
    const properties = Object.fromEntries(
      Array.from({ length: 1_000 }, (_unused, index) => [
        `p${index}`,
        { type: "string", pattern: pattern + index },
      ]),
    );
    const compiled = vi.spyOn(RE2JS, "compile");
    expect(await judge({ properties }, {})).toMatch(/^in part: the pattern .* can't be used/u);
    expect(compiled.mock.calls.length).toBeLessThan(60);
    compiled.mockRestore();
    expect(
      await judge({ patternProperties: { [pattern]: true, [`${pattern}(a{99}){99}(b{99}){99}`]: {} } }, {}),
    ).toContain("patterns are too large");
  });

  it.each([
    ["properties of characters", `[${"\\PL".repeat(1_000)}]`],
    ["such properties beside what looks like an open group", `[${"\\PL".repeat(1_000)}]\\Q(\\E`],
    ["ranges in which case is ignored", `(?i)[${"\u0001-\ufffe".repeat(1_000)}]`],
    ["escaped ranges of this kind", `(?i:[${"\\x01-\\ufffe".repeat(1_000)}])`],
    ["characters", `[${"ab".repeat(10_000)}]`],
  ])("can't have a class hold thousands of %s", async (_, pattern) => {
    const compiled = vi.spyOn(RE2JS, "compile");
    expect(await judge({ pattern }, "x")).toMatch(/^in part: the pattern .* can't be used/u);
    expect(compiled).not.toHaveBeenCalled();
    compiled.mockRestore();
  });

  it("checks the patterns that people write", async () => {
    expect(await judge({ pattern: "^[\\p{L}\\p{M} .'-]{1,900}$" }, "1")).toMatch(/must match/u);
    expect(await judge({ pattern: "(?i)^[a-z0-9!#$&'*+/=?^_|{}~-]+@[a-z0-9.-]+$" }, "1")).toMatch(
      /must match/u,
    );
    const byte = "(25[0-5]|(2[0-4]|1{0,1}[0-9]){0,1}[0-9])";
    const part = "[0-9a-fA-F]{1,4}";
    const address = `^((${part}:){7,7}${part}|(${part}:){1,7}:|(${part}:){1,6}:${part}|(${part}:){1,5}(:${part}){1,2}|::(ffff(:0{1,4}){0,1}:){0,1}(${byte}\\.){3,3}${byte})$`;
    const name = "^[A-Za-z0-9][A-Za-z0-9._-]{0,253}[A-Za-z0-9]$";
    const properties = Object.fromEntries(
      Array.from({ length: 30 }, (_, index) => [
        `p${index}`,
        { type: "string", pattern: index > 9 ? name : address },
      ]),
    );
    expect(await judge({ properties }, { p0: "x" })).toMatch(/^`p0` must match/u);
    expect(await judge({ properties }, { p0: "::ffff:10.0.0.1", p20: "a.b" })).toBe("valid");
  });

  it.each<[string, object]>([
    [
      "conditions",
      { allOf: Array.from({ length: 1_500 }, (_, index) => ({ if: { required: [`a${index}`] }, else: {} })) },
    ],
    [
      "properties named like data",
      { properties: { enum: { anyOf: Array.from({ length: 6_000 }, () => ({})) } } },
    ],
    [
      "names of properties",
      { dependentRequired: { enum: Array.from({ length: 6_000 }, (_, index) => `k${index}`) } },
    ],
  ])("are not compiled with thousands of %s", async (_, schema) => {
    expect(await judge(schema as JsonSchema, {})).toBe("unvalidated: the schema has more than 4000 members");
  });

  it("are not larger for each reference to a large part", async () => {
    // Only what is compiled takes time here, of which there would be too much.
    const now = vi.spyOn(performance, "now").mockReturnValue(0);
    onTestFinished(() => now.mockRestore());
    const properties = Object.fromEntries(
      Array.from({ length: 300 }, (_, index) => [`p${index}`, { type: "string" }]),
    );
    const allOf = Array.from({ length: 1_000 }, () => ({ $ref: "#/$defs/a" }));
    expect(await judge({ allOf, $defs: { a: { properties } } }, { p299: 1 })).toContain("`p299`");
  });

  it("are compiled with thousands of values", async () => {
    const choices = Array.from({ length: 20_000 }, (_, index) => index);
    expect(await judge({ properties: { a: { enum: choices } } }, { a: -1 })).toContain("`a` must be");
  });

  it.each<[string, object]>([
    ["a property named like data", { properties: { default: twice("#/properties/default") } }],
    ["data", { $ref: "#/default", default: { allOf: [{ $ref: "#/default/x" }], x: twice("#/default/x") } }],
    ["a named part of data", { $ref: "#n", examples: { x: { $anchor: "n", ...twice("#n") } } }],
  ])("can't make recursion through %s multiply", async (_, schema) => {
    let value: JsonValue = 1;
    for (let depth = 0; depth < 40; depth += 1) value = { next: value, default: value };
    expect(await judge(schema as JsonSchema, value)).toBe(
      "they are too large or too deeply nested to be checked",
    );
  });
});
