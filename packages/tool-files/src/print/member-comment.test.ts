import { describe, expect, it } from "vitest";
import { memberComment } from "./member-comment.ts";

describe("memberComment", () => {
  it.each([
    ["a", { description: "Where" }, "Where."],
    ["a", { description: "Where?" }, "Where?"],
    ["a", { description: "Where…" }, "Where…"],
    ["a", { description: "Where", title: "Place" }, "Where."],
    ["a", { title: "Place" }, "Place."],
    ["user_name", { title: "User-Name" }, ""],
    ["a", { description: 5, title: 5 }, ""],
    ["a", { description: "x".repeat(2_001) }, `${"x".repeat(1_999)}…`],
    ["a", { format: "date" }, "Format: date."],
    ["a", { format: "" }, ""],
    ["a", { format: "f".repeat(50) }, `Format: ${"f".repeat(39)}….`],
    ["a", { minimum: 1 }, "At least 1."],
    ["a", { maximum: 0 }, "At most 0."],
    ["a", { minimum: 1, maximum: 2 }, "From 1 to 2."],
    ["a", { minimum: "1", maximum: "2" }, ""],
    ["a", { default: 0 }, "Default: 0."],
    ["a", { default: false }, "Default: false."],
    ["a", { default: "x*/" }, String.raw`Default: "x*\/".`],
    ["a", { default: { b: [1] } }, 'Default: {"b":[1]}.'],
    ["a", { default: null }, ""],
    ["a", { default: "" }, ""],
    ["a", { default: "x".repeat(58) }, `Default: "${"x".repeat(58)}".`],
    ["a", { default: "x".repeat(59) }, ""],
    ["a", { deprecated: true }, "@deprecated"],
    ["a", { deprecated: "yes" }, ""],
    [
      "a",
      { deprecated: true, description: "Old", format: "date", minimum: 1, default: 2 },
      "@deprecated Old. Format: date. At least 1. Default: 2.",
    ],
    ["__proto__", true, 'Write it as ["__proto__"].'],
    ["__proto__", { description: "Odd" }, 'Write it as ["__proto__"]. Odd.'],
    ["a", true, ""],
  ])("of %s with %j is %j", (name, schema, comment) => {
    expect(memberComment(name, schema)).toBe(comment);
  });
});
