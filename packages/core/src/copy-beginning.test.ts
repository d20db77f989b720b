import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { copyBeginning, copyWholeWords } from "./short-texts.ts";

describe("copyBeginning", () => {
  it.each([
    ["abc", 3, "abc"],
    ["abcd", 3, "abc"],
    ["", 3, ""],
    ["äöü€", 2, "äö"],
    ["a😀b", 3, "a😀"],
    ["a😀b", 2, "a\u{FFFD}"],
  ])("of %j copies %i characters: %j", (text, maxCharacters, beginning) => {
    expect(copyBeginning(text, maxCharacters)).toBe(beginning);
  });

  it("keeps nothing of the rest in memory", () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    collect();
    const before = process.memoryUsage().heapUsed;
    const kept = Array.from({ length: 50 }, (_, index) =>
      copyBeginning(JSON.stringify(["x".repeat(1_000_000), index]), 1_000),
    );
    collect();
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(5_000_000);
    expect(kept).toHaveLength(50);
  });
});

describe("copyWholeWords", () => {
  it.each([
    ["mail ada@example.com now", 6, "mail "],
    ["mail ada@example.com now", 15, "mail "],
    ['{"a":1,"mail":"ada@example.com"}', 24, '{"a":1,"mail":"'],
    ["card 4111 1111 1111 1111, paid", 15, "card "],
    ["card 4111 1111 1111 1111, paid", 17, "card "],
    ["card 4111 1111 1111 1111, paid", 28, "card 4111 1111 1111 1111, pa"],
    ["iban DE89 3704 0044 0532 0130 00", 21, "iban "],
    ["iban GB82 WEST 1234 5698 7654 32", 22, "iban "],
    ["it is 5 km to the sea", 16, "it is 5 km to th"],
    ["short", 5, "short"],
    ["abcdef", 3, "abc"],
    [`${"a".repeat(200)}1 b`, 199, "a".repeat(71)],
  ])("of %j copies at most %i characters: %j", (text, maxCharacters, beginning) => {
    expect(copyWholeWords(text, maxCharacters)).toBe(beginning);
  });
});
