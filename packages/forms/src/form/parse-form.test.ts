import { describe, expect, it } from "vitest";
import { parseForm } from "../index.ts";

const HEAD = "name: try\nfields:\n";
const messageOf = (text: string): string => {
  try {
    parseForm(text, { file: "try.yaml" });
  } catch (error) {
    return (error as Error).message;
  }
  return "no error";
};

describe("parseForm", () => {
  it("reads YAML and JSON alike", () => {
    const yaml = parseForm(`${HEAD}  - { name: email, type: email, required: true, pii: EMAIL }\n`);
    expect(parseForm(JSON.stringify(yaml))).toEqual(yaml);
    expect(yaml.fields[0]).toMatchObject({ name: "email", type: "email", required: true, pii: "EMAIL" });
  });

  it.each([
    ["  - { name: a, type: txet }", /^try\.yaml:3 {2}fields\[0\]\.type {2}.*"text"/],
    ["  - name: a\n    requird: true", /^try\.yaml:4 {2}fields\[0\]\.requird {2}is not known here\.$/],
    ["  - { name: __proto__ }", /fields\[0\]\.name {2}must begin with a letter/],
    [
      "  - { name: a }\n  - { name: a }",
      /^try\.yaml:4 {2}fields\[1\]\.name {2}"a" is taken by a field above\.$/,
    ],
    ["  - { name: a, type: select }", /is select, which needs options\.$/],
    [
      "  - { name: a, options: [x] }",
      /options {2}is not for a field of type text, but for select, multiselect, radio\.$/,
    ],
    ["  - { name: a, when: { field: b, equals: 1 } }", /asks for "b", which is not a field of this form\.$/],
    ["  - { name: a, when: { field: a } }", /needs exactly one of equals/],
    [
      "  - { name: a, when: { field: b, filled: true } }\n  - { name: b, when: { field: a, filled: true } }",
      /depend on each other in a circle: a → b → a\.$/,
    ],
    ["  - { name: a, type: date, min: soon }", /fields\[0\]\.min {2}must be a date\.$/],
    [
      "  - { name: a, type: date, format: D. MMMM YYYY }",
      /format {2}has D, .* there are YYYY, MM, DD and YY\.$/,
    ],
    ["  - { name: a, type: date, format: DD MMM YYYY }", /format {2}has MMM, which is not part of a date/],
    ["  - { name: a, type: date, format: dd.MM.yyyy }", /format {2}has dd, /],
    ["  - { name: a, type: date, format: 'DD.MM.YYYY HH:mm' }", /format {2}has HH, /],
    ["  - { name: a, type: time, format: 'h:mm A' }", /format {2}has h, .* there are HH, mm, ss\.$/],
    [
      "  - { name: a, type: month, format: MM/YY }\n  - { name: b, type: time, format: HH h mm Uhr }",
      /no error/,
    ],
    [
      "  - { name: a, type: datetime, format: 'YYYY-MM-DDTHH:mm' }\n  - { name: b, type: date, format: DD de MM. YYYY年 }",
      /no error/,
    ],
    ["  - { name: a, type: integer, min: 3, max: 2 }", /is above max\.$/],
    ["  - { name: a, type: integer, default: x }", /default {2}must be a whole number\.$/],
    ["  - { name: a, pattern: '(a+)+(?=b)' }", /pattern {2}is not a pattern of RE2/],
    ["  - { name: a, pattern: '(a)\\1' }", /pattern {2}is not a pattern of RE2/],
    ["  - { name: a, pattern: '(((a{99}){99}){99}){99}' }", /pattern {2}is not a pattern of RE2/],
    [
      "  - { name: a }\ntarget: { type: web, url: 'file:///etc/passwd' }",
      /target\.url {2}must be an http or https address\.$/,
    ],
    [
      "  - { name: a }\ntarget: { type: web, url: 'javascript:alert(1)' }",
      /must be an http or https address\.$/,
    ],
    [
      "  - { name: a }\ntarget: { type: tool, tool: calculate }",
      /target\.tool {2}must be a server and a tool/,
    ],
    [
      "  - { name: a }\nsources: [{ tool: a.b, values: { b: x } }]",
      /sources\[0\] {2}names "b", which is not a field/,
    ],
    [
      "  - { name: a, locate: { name: c } }\n  - { name: b, locate: { name: c.email } }\ntarget: { type: tool, tool: a.b }",
      /^try\.yaml:4 {2}fields\[1\] {2}fills the same argument of the tool as a field above\.$/,
    ],
    ["  - &a { name: a, description: *a }", /alias|can't be read|nested/],
    [
      "  - { name: a, default: 01234 }",
      /^try\.yaml:3 {2}fields\[0\]\.default {2}is a number that loses its \+/,
    ],
    ["  - { name: a, options: [+49, 1] }", /options\[0\] {2}is a number that loses its \+/],
    ["  - { name: a, default: 12345678901234567890 }", /default {2}is a number that loses .* digits/],
    ["  - { name: 'a }", /^try\.yaml:\d+ {2}lacks a closing/],
  ])("says where %j is wrong", (rest, expected) => {
    expect(messageOf(HEAD + rest)).toMatch(expected);
  });

  it("refuses what is empty, too large, or grows without end", () => {
    expect(messageOf("")).toBe("try.yaml  is empty.");
    expect(messageOf(`${HEAD}  - { name: a, description: "${"x".repeat(2 ** 20)}" }`)).toMatch(
      /and 1048576 are the most/,
    );
    const bomb = ["a: &a [x, x, x, x, x, x, x, x, x, x]"];
    for (let level = 1; level < 9; level += 1) {
      const name = "abcdefghi"[level];
      bomb.push(
        `${name}: &${name} [${Array.from({ length: 10 }, () => `*${"abcdefghi"[level - 1]}`).join(", ")}]`,
      );
    }
    expect(messageOf(bomb.join("\n"))).toMatch(/aliases .* for more than it may hold/);
    expect(messageOf("[".repeat(100_000))).toMatch(/nested|closing/);
  });
});
