import { describe, expect, it } from "vitest";
import { memberComment } from "./member-comment.ts";

describe("memberComment", () => {
  it.each([
    ["a", { description: "Where" }, "Where"],
    ["a", { description: "Where?" }, "Where?"],
    ["a", { description: "Where…" }, "Where…"],
    ["a", { description: "Where", title: "Place" }, "Where"],
    ["a", { title: "Place" }, "Place"],
    ["user_name", { title: "User-Name" }, ""],
    ["a", { description: 5, title: 5 }, ""],
    ["a", { description: "x".repeat(2_001) }, `${"x".repeat(1_999)}…`],
    ["a", { format: "date" }, "date"],
    ["a", { format: "" }, ""],
    ["a", { format: "f".repeat(50) }, `${"f".repeat(39)}…`],
    ["a", { minimum: 1 }, "≥ 1"],
    ["a", { maximum: 0 }, "≤ 0"],
    ["a", { minimum: 1, maximum: 2 }, "1–2"],
    ["a", { minimum: "1", maximum: "2" }, ""],
    ["a", { default: 0 }, "default 0"],
    ["a", { default: false }, "default false"],
    ["a", { default: "x*/" }, String.raw`default "x*\/"`],
    ["a", { default: { b: [1] } }, 'default {"b":[1]}'],
    ["a", { default: null }, ""],
    ["a", { default: "" }, ""],
    ["a", { default: "x".repeat(58) }, `default "${"x".repeat(58)}"`],
    ["a", { default: "x".repeat(59) }, ""],
    ["a", { deprecated: true }, "@deprecated"],
    ["a", { deprecated: "yes" }, ""],
    [
      "a",
      { deprecated: true, description: "Old", format: "date", minimum: 1, default: 2 },
      "@deprecated ≥ 1, date, Old, default 2",
    ],
    ["__proto__", true, 'write it as ["__proto__"]'],
    ["__proto__", { description: "Odd" }, 'write it as ["__proto__"], Odd'],
    ["a", true, ""],
  ])("of %s with %j is %j", (name, schema, comment) => {
    expect(memberComment(name, schema)).toBe(comment);
  });
});
