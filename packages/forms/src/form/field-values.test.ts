import { describe, expect, it } from "vitest";
import { checkValue } from "./field-values.ts";
import { defineForm } from "./parse-form.ts";

const check = (field: object, given: unknown) => {
  const [only] = defineForm({ name: "try", fields: [{ name: "a", ...field }] }).fields;
  return only === undefined ? undefined : checkValue(only, given);
};

describe("checkValue", () => {
  it.each([
    [{ type: "integer" }, "12", 12],
    [{ type: "number" }, " 1.5e3 ", 1500],
    [{ type: "boolean" }, "No", false],
    [{ type: "date" }, "2024-02-29", "2024-02-29"],
    [{ type: "datetime" }, "2026-01-31 14:30:00", "2026-01-31T14:30"],
    [{ type: "time" }, "23:59:07", "23:59:07"],
    [{ type: "time", min: "09:00:00" }, "09:00", "09:00"],
    [{ type: "datetime", max: "2026-01-31 18:00" }, "2026-01-31 09:00", "2026-01-31T09:00"],
    [
      { type: "datetime", min: "2026-01-31T10:00", max: "2026-01-31 18:00" },
      "2026-01-31T12:00",
      "2026-01-31T12:00",
    ],
    [{ type: "week" }, "2026-W53", "2026-W53"],
    [{ type: "email" }, " a.b+c@mail.example.org ", "a.b+c@mail.example.org"],
    [{ type: "phone" }, "+49 (0)228 / 12-34", "+49 (0)228 / 12-34"],
    [{ type: "color" }, "#ABCDEF", "#abcdef"],
    [{ type: "select", options: [{ value: "gr", label: "Greece" }] }, "greece", "gr"],
    [{ type: "select", options: [1, 2] }, 2, "2"],
    [{ type: "multiselect", options: ["a", "b"] }, "b", ["b"]],
    [{ type: "textarea" }, "a\r\nb", "a\nb"],
    [{ max_length: 1 }, "👍", "👍"],
    [{ pattern: "\\p{L}+ \\u0041" }, "Λόβ A", "Λόβ A"],
  ])("takes %j of %j", (field, given, value) => {
    expect(check(field, given)).toEqual({ ok: true, value });
  });

  it.each([
    [{ type: "integer" }, "1.5"],
    [{ type: "integer" }, 2 ** 60],
    [{ type: "number" }, "NaN"],
    [{ type: "number" }, "0x10"],
    [{ type: "number" }, Infinity],
    [{ type: "boolean" }, "maybe"],
    [{ type: "date" }, "2023-02-29"],
    [{ type: "date" }, "0000-01-01"],
    [{ type: "time" }, "24:00"],
    [{ type: "month" }, "2026-13"],
    [{ type: "week" }, "2025-W53"],
    [{ type: "date", min: "2026-01-02" }, "2026-01-01"],
    [{ type: "datetime", min: "2026-01-31 10:00" }, "2026-01-31T09:00"],
    [{ type: "time", max: "09:00:00" }, "09:00:01"],
    [{ type: "email" }, "a@b@c"],
    [{ type: "url" }, "javascript:alert(1)"],
    [{ type: "phone" }, "call me"],
    [{ type: "color" }, "red"],
    [{ type: "radio", options: ["a"] }, "b"],
    [{ type: "file" }, ["a", "b"]],
    [{ max_length: 1 }, "ab"],
    [{ pattern: "a" }, "ba"],
    [{}, { nested: true }],
    [{}, NaN],
    [{}, Infinity],
    [{}, "nul\u0000"],
    [{}, "\uD800"],
  ])("refuses for %j %j", (field, given) => {
    expect(check(field, given)).toMatchObject({ ok: false });
  });
});
