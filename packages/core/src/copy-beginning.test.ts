import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { copyBeginning } from "./short-texts.ts";

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
