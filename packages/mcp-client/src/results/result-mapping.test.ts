import { createResultCheck } from "@cem/bridge";
import type { JsonSchema, JsonValue } from "@cem/core";
import { describe, expect, it } from "vitest";
import { mapToolResult } from "./result-mapping.ts";

const tool = { server: "s", tool: "t" };
const mapping = { checkResult: createResultCheck() };

async function valueOf(content: JsonValue[], structuredContent?: JsonValue): Promise<JsonValue> {
  const result = await mapToolResult(tool, { content, isError: false, structuredContent }, mapping);
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
}
const text = (value: string): JsonValue => ({ type: "text", text: value });

describe("mapToolResult", () => {
  it.each([
    ['{"a": [1]}', { a: [1] }],
    [" [1, 2]\n", [1, 2]],
    ['{"id":12345678901234567890,"n":-1234567}', { id: "12345678901234567890", n: -1_234_567 }],
    [
      '[12345678901234567, 0.1234567890123456, 1e30, "1"]',
      ["12345678901234567", 0.123_456_789_012_345_6, 1e30, "1"],
    ],
    ["[1735689600000000000, 7205759403000000001]", [1_735_689_600_000_000_000, "7205759403000000001"]],
    ["42", "42"],
    ["-1.5", "-1.5"],
    ["true", "true"],
    ["null", "null"],
    ['"quoted"', '"quoted"'],
    ["1e5", "1e5"],
    ['{"a": 1} and more', '{"a": 1} and more'],
    ["[1, 2", "[1, 2"],
    ["[info] done", "[info] done"],
    ["{not json}", "{not json}"],
    ["plain", "plain"],
    ["", ""],
    [" padded ", " padded "],
  ])("reads the text %j as %j", async (given, value) => {
    expect(await valueOf([text(given)])).toEqual(value);
  });

  it("gives nothing for nothing", async () => {
    expect(await valueOf([])).toBeNull();
    expect(await valueOf([], null)).toBeNull();
    expect(await valueOf([text("said")], null)).toBe("said");
  });

  it("joins plain texts, and lists what is more than that", async () => {
    expect(await valueOf([text("a"), text("b")])).toBe("a\nb");
    expect(await valueOf([text("1"), text("true")])).toBe("1\ntrue");
    expect(await valueOf([text("[1,"), text("2]")])).toBe("[1,\n2]");
    expect(await valueOf([text('{"a":1}'), text('{"a":2}')])).toEqual([{ a: 1 }, { a: 2 }]);
    expect(await valueOf([text('{"a":1}'), text("2")])).toEqual([{ a: 1 }, "2"]);
  });

  it("prefers the structured value, also when it is falsy, and keeps what comes with it", async () => {
    expect(await valueOf([text("ignored")], { a: 1 })).toEqual({ a: 1 });
    expect(await valueOf([text("ignored")], 0)).toBe(0);
    const link = { type: "resource_link", uri: "a://b", name: "b" };
    expect(await valueOf([text("ignored"), link], { a: 1 })).toEqual({ a: 1, _attachments: [link] });
  });

  it("keeps the digits of structured content where a text has them and the schema takes a text", async () => {
    const exact = '{"rows":[{"id":1234567890123456789}],"n":1}';
    const rounded = JSON.parse(exact) as JsonValue;
    const digits = { rows: [{ id: "1234567890123456789" }], n: 1 };
    expect(await valueOf([text(exact)], rounded)).toEqual(digits);
    expect(await valueOf([text("other 1234567890123456789")], rounded)).toEqual(rounded);
    const typed = async (id: JsonSchema): Promise<unknown> => {
      const rows = { type: "array", items: { properties: { id } } };
      const origin = { ...tool, outputSchema: { type: "object", properties: { rows } } as JsonSchema };
      const raw = { content: [text(exact)], isError: false, structuredContent: rounded };
      return mapToolResult(origin, raw, mapping);
    };
    expect(await typed({})).toMatchObject({ ok: true, value: digits });
    expect(await typed({ type: "integer" })).toEqual({ ok: true, value: rounded });
  });

  it("says something for an error without text", async () => {
    expect(await mapToolResult(tool, { content: [], isError: true }, mapping)).toMatchObject({
      error: { code: "TOOL_FAILED", message: "s.t failed without a message." },
    });
    expect(
      await mapToolResult(tool, { content: [], isError: true, structuredContent: { why: 1 } }, mapping),
    ).toMatchObject({
      error: { message: '{"why":1}', details: { structuredContent: { why: 1 } } },
    });
  });

  it("keeps only the beginning of a large error", async () => {
    const content = [text("a".repeat(10_000))];
    const structuredContent = { why: "b".repeat(64 * 1024) };
    const result = await mapToolResult(tool, { content, isError: true, structuredContent }, mapping);
    expect(result).toEqual({
      ok: false,
      error: {
        code: "TOOL_FAILED",
        message: `${"a".repeat(8_000)}…`,
        details: { server: "s", tool: "t", structuredContent: undefined },
      },
    });
  });
});
