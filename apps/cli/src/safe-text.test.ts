import { describe, expect, it } from "vitest";
import { safeData, safeJson, safeText } from "./render/text.ts";

describe("safeText", () => {
  it("spells out what a terminal would obey", () => {
    expect(safeText("\u001B[2J\u001B]0;title\u0007")).toBe(String.raw`\x1b[2J\x1b]0;title\x07`);
    expect(safeText("over\rwritten")).toBe(String.raw`over\x0dwritten`);
    expect(safeText("\u009B31m")).toBe(String.raw`\x9b31m`);
    expect(safeText("evil\u202Etxt.exe")).toBe(String.raw`evil\u202etxt.exe`);
    expect(safeText("half \uD800 pair")).toBe(String.raw`half \ud800 pair`);
  });

  it.each([
    ["ad\u00ADmin", String.raw`ad\xadmin`],
    ["ad\u200Bmin\u2060", String.raw`ad\u200bmin\u2060`],
    ["\u3164\u115F\u17B4\u034F\u180E", String.raw`\u3164\u115f\u17b4\u034f\u180e`],
    ["admin\u200D\uFE0F", String.raw`admin\u200d\ufe0f`],
    ["😀\u{E0101}\u{E0102}\u200D", `😀\u{E0101}${String.raw`\u{e0102}\u200d`}`],
  ])("spells out what is invisible in %j", (text, shown) => {
    expect(safeText(text)).toBe(shown);
    expect(safeData([text])).toEqual([shown]);
  });

  it("leaves text alone", () => {
    const text = "Zürich 你好 👨‍👩‍👧 ❤️‍🔥 1️⃣ می\u200Cخواهم 葛\u{E0100}\n\tindented";
    expect(safeText(text)).toBe(text);
    expect(safeText("windows\r\nlines")).toBe("windows\nlines");
  });
});

describe("safeData", () => {
  it("reaches every string, keys too, and keeps the rest", () => {
    const data = { "a\u001B": ["\u0007", 1, null, { deep: "\u0000" }], ok: true };
    expect(safeData(data)).toEqual({
      [String.raw`a\x1b`]: [String.raw`\x07`, 1, null, { deep: String.raw`\x00` }],
      ok: true,
    });
  });

  it("does not touch prototypes", () => {
    const hostile: unknown = JSON.parse('{"__proto__": {"polluted": "yes"}}');
    const safe = safeData(hostile);
    expect(Object.getPrototypeOf(safe)).toBe(Object.prototype);
    expect(JSON.stringify(safe)).toBe('{"__proto__":{"polluted":"yes"}}');
  });
});

describe("safeJson", () => {
  it("is the same data without anything a terminal would obey", () => {
    const data = { text: "\u001B[2J \u009B2J \u202E \uD800" };
    const json = safeJson(data);
    expect(json).toMatch(/^[ -~]+$/u);
    expect(JSON.parse(json)).toEqual(data);
  });
});
