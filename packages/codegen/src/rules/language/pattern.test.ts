import { describe, expect, it } from "vitest";
import { readTokens } from "./lexer.ts";
import { Pattern } from "./pattern.ts";

function slots(pattern: Pattern, text: string, ...names: string[]): (string | undefined)[] | undefined {
  const match = pattern.match(readTokens(text));
  return match && names.map((name) => match.text(name) || match.meaning(name));
}

describe("Pattern", () => {
  it("fits a whole phrase only, and steps over small words", () => {
    const pattern = new Pattern("(save|store) {what} (to|in) file? {path:path}");
    expect(slots(pattern, "Please save the sum to the file a.json", "what", "path")).toEqual([
      "sum",
      "a.json",
    ]);
    expect(slots(pattern, "save the sum to a.json twice", "what")).toBeUndefined();
    expect(slots(pattern, "save to a.json", "what")).toBeUndefined();
  });

  it("takes the shortest slots first, and others where those don't fit", () => {
    const pattern = new Pattern("{a} and {b}");
    const all = [...pattern.matches(readTokens("x and y and z"))].map((match) => [
      match.text("a"),
      match.text("b"),
    ]);
    expect(all).toEqual([
      ["x", "y and z"],
      ["x and y", "z"],
    ]);
  });

  it("knows alternatives of several words, optional parts and meanings", () => {
    const pattern = new Pattern("(get | look up) {n:number}? {kind:@kind} (of {of})?", {
      kind: { sum: "+", "sum total": "++" },
    });
    expect(slots(pattern, "look up -3 sum total of x y", "n", "kind", "of")).toEqual(["-3", "++", "x y"]);
    expect(slots(pattern, "get sum", "n", "kind", "of")).toEqual(["", "+", ""]);
    expect(slots(pattern, 'get "sum"', "kind")).toBeUndefined();
  });

  it("says which class it misses", () => {
    expect(() => new Pattern("a @nothing")).toThrow("@nothing");
  });

  it("answers soon for a long phrase that does not fit", { timeout: 5_000 }, () => {
    const pattern = new Pattern("{a} to {b} in {c} of {d} end");
    expect(pattern.match(readTokens("a to b in c of ".repeat(60)))).toBeUndefined();
  });
});
