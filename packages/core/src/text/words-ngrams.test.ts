import { describe, expect, it } from "vitest";
import { characterNgrams } from "./words-ngrams.ts";

describe("characterNgrams", () => {
  it("marks the edges of the word", () => {
    expect(characterNgrams("get", 3)).toEqual([" ge", "get", "et "]);
    expect(characterNgrams("a", 3)).toEqual([" a "]);
    expect(characterNgrams("a", 4)).toEqual([]);
  });
});
