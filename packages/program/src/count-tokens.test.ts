import { describe, expect, it } from "vitest";
import { countTokens } from "./parse-program.ts";

describe("countTokens", () => {
  it.each([
    ["", 0],
    ["const a = 1;", 5],
    ["call(\"a b c\", `d ${e}`, 'f')", 8],
    ["a // b c d\nc /* d e */ f", 5],
    [String.raw`"quoted \" inside" x`, 2],
    ['"never closed\nx', 2],
    ["/* never closed", 1],
  ])("of %j is %i", (code, count) => {
    expect(countTokens(code, 100)).toBe(count);
  });

  it("stops beyond the limit", () => {
    expect(countTokens("a;".repeat(1_000_000), 10)).toBe(11);
  });
});
