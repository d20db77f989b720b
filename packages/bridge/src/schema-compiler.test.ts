import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { JsonSchema, JsonValue } from "@cem/core";
import { afterEach, describe, expect, it, vi } from "vitest";
import { CheckTooLong, loadSchemaCompiler } from "./schema-compiler.ts";
import { CHECKPOINT_KEYWORD } from "./schema-preparation.ts";

const compiler = await loadSchemaCompiler();
const { compile } = compiler;

/** The keyword of the first violation, or `valid`. */
function judge(schema: JsonSchema, value: JsonValue): string {
  return compile(schema, "2020-12")(value)?.keyword ?? "valid";
}

afterEach(() => void vi.restoreAllMocks());

describe("loadSchemaCompiler", () => {
  it("loads once", async () => {
    expect(await loadSchemaCompiler()).toBe(compiler);
    expect(loadSchemaCompiler()).toBe(loadSchemaCompiler());
  });
});

describe("compile", () => {
  it("gives the violation with its place and its schema", () => {
    const check = compile({ properties: { a: { type: "string" } } }, "2020-12");
    expect(check({ a: 1 })).toMatchObject({ keyword: "type", instancePath: "/a", data: 1 });
    expect(check({ a: "x" })).toBeUndefined();
  });

  it("ignores unknown keywords, without a line in the log", () => {
    const logged = vi.spyOn(console, "warn");
    expect(judge({ type: "object", "x-own": 1, format: "unknown" }, {})).toBe("valid");
    expect(logged).not.toHaveBeenCalled();
  });

  it("looks at own properties only", () => {
    expect(judge({ required: ["toString"] }, {})).toBe("required");
    expect(judge({ properties: { constructor: { type: "string" } } }, {})).toBe("valid");
  });

  it("forgets a schema whose compilation fails", () => {
    const broken = { $id: "https://example.com/broken", properties: { a: { pattern: "(" } } };
    expect(() => compile(broken, "2020-12")).toThrow("error parsing regexp");
    expect(judge({ $id: "https://example.com/broken", type: "object" }, 1)).toBe("type");
  });

  it.each([
    [0.01, [19.99, 0.07, 4.35, 1_234_567.89, 99_999_999.99], [1.005, 0.015]],
    [0.1, [0.3, 0.7], [0.35]],
    [5, [10, -15], [11]],
  ])("knows the multiples of %d", (multipleOf, right, wrong) => {
    expect(right.map((value) => judge({ multipleOf }, value))).toEqual(right.map(() => "valid"));
    expect(wrong.map((value) => judge({ multipleOf }, value))).toEqual(wrong.map(() => "multipleOf"));
  });

  it("tells two patterns of one schema apart", () => {
    const schema = { properties: { a: { pattern: "^a$" }, b: { pattern: "^b$" } } };
    expect(judge(schema, { a: "a", b: "b" })).toBe("valid");
    expect(judge(schema, { a: "a", b: "a" })).toBe("pattern");
  });

  it("keeps nothing of a schema in memory for good", async () => {
    const compileOne = (index: number): WeakRef<JsonSchema> => {
      const schema = { properties: { [`a${index}`]: { type: "string" } } };
      compile(schema, "2019-09");
      return new WeakRef(schema);
    };
    const first = compileOne(0);
    for (let index = 1; index <= 1_000; index += 1) compileOne(index);
    // A weak reference is strong until the current task has ended.
    await new Promise(setImmediate);
    setFlagsFromString("--expose-gc");
    (runInNewContext("gc") as () => void)();
    expect(first.deref()).toBeUndefined();
  });

  describe("formats", () => {
    it.each([
      ["date", "2026-02-28", "2026-02-30"],
      ["email", "a@example.com", "a"],
      ["uri", "https://example.com/", "example"],
      ["uuid", "1b4e28ba-2fa1-11d2-883f-0016d3cca427", "1b4e28ba"],
      ["regex", "^a$", "("],
      ["date-time", "2026-02-28T12:00:00Z", "2026-02-28"],
      ["date-time", "2026-02-28T12:00:00", "2026-02-28T25:00:00"],
      ["byte", "YQ==", "a b"],
    ])("checks %s", (format, valid, invalid) => {
      expect([judge({ format }, valid), judge({ format }, invalid)]).toEqual(["valid", "format"]);
    });

    it("checks formats of numbers", () => {
      expect(judge({ type: "number", format: "int32" }, 2 ** 31)).toBe("format");
      expect(judge({ type: "number", format: "int32" }, 2 ** 31 - 1)).toBe("valid");
      expect(judge({ type: "number", format: "double" }, 1.5)).toBe("valid");
    });

    it("checks no format that has no form", () => {
      expect([judge({ format: "password" }, "x"), judge({ format: "binary" }, "\0")]).toEqual([
        "valid",
        "valid",
      ]);
    });

    it("checks texts of up to 2,048 characters", () => {
      const schema = { format: "date" };
      expect(judge(schema, "x".repeat(2_048))).toBe("format");
      expect(judge(schema, "x".repeat(2_049))).toBe("valid");
    });
  });

  describe("uniqueItems", () => {
    it("compares by value, whatever the order of keys", () => {
      const schema = { uniqueItems: true };
      const pair = [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ];
      expect(judge(schema, pair)).toBe("uniqueItems");
      expect(judge(schema, [{ a: 1 }, { a: "1" }, [1], ["1"], 1, "1", null])).toBe("valid");
      expect(judge({ uniqueItems: false }, pair)).toBe("valid");
      expect(judge(schema, "aa")).toBe("valid");
    });
  });

  describe("patterns", () => {
    const slow = { pattern: "([a-c]{0,30}[a-d]{0,30}){0,10}[xa]$" };

    it("are not matched with a text that would take long", () => {
      const check = compile(slow, "2020-12");
      expect(check("a".repeat(2_000))).toBeUndefined();
      expect(() => check("a".repeat(1_000_000))).toThrow(CheckTooLong);
    });

    it("that are simple are matched with long texts", () => {
      expect(judge({ pattern: "^a+$" }, "a".repeat(1_000_000))).toBe("valid");
      expect(judge({ pattern: "^a+$" }, `${"a".repeat(1_000_000)}b`)).toBe("pattern");
    });

    it("end a check after 500 ms", () => {
      const check = compile({ items: { pattern: "^a$" } }, "2020-12");
      let now = 1_000;
      vi.spyOn(performance, "now").mockImplementation(() => (now += 200));
      expect(check(["a", "a"])).toBeUndefined();
      expect(() => check(["a", "a", "a"])).toThrow(CheckTooLong);
    });
  });

  it("ends a comparison of items after 500 ms", () => {
    const check = compile({ uniqueItems: true }, "2020-12");
    let now = 1_000;
    vi.spyOn(performance, "now").mockImplementation(() => (now += 200));
    expect(check([1, 2])).toBeUndefined();
    expect(() => check([1, 2, 3])).toThrow(CheckTooLong);
  });

  describe("checkpoints", () => {
    const recursive: JsonSchema = { [CHECKPOINT_KEYWORD]: true, properties: { a: { $ref: "#" } } };

    it.each(["2020-12", "2019-09", "draft-07"] as const)("end a check of %s after 500 ms", (dialect) => {
      const check = compile(structuredClone(recursive), dialect);
      let now = 1_000;
      vi.spyOn(performance, "now").mockImplementation(() => now);
      expect(check({ a: {} })).toBeUndefined();
      const slowly = (ms: number): JsonValue =>
        Object.defineProperty({}, "a", {
          enumerable: true,
          get: () => {
            now += ms;
            return {};
          },
        }) as JsonValue;
      expect(check(slowly(250))).toBeUndefined();
      expect(() => check(slowly(501))).toThrow(CheckTooLong);
    });

    it("come before what follows references", () => {
      const schema: JsonSchema = {
        allOf: [{ type: "string" }],
        $ref: "#/$defs/a",
        [CHECKPOINT_KEYWORD]: true,
        $defs: { a: { type: "string" } },
      };
      const check = compile(schema, "2020-12");
      let now = 1_000;
      vi.spyOn(performance, "now").mockImplementation(() => (now += 501));
      expect(() => check(1)).toThrow(CheckTooLong);
    });
  });
});
