import { describe, expect, it } from "vitest";
import { splitStems, stem } from "./words.ts";

describe("stem", () => {
  it("brings the forms of a word together", () => {
    for (const forms of [
      ["calculate", "calculating", "calculator", "calculations"],
      ["city", "cities"],
      ["query", "queries"],
      ["translate", "translated", "translation"],
    ]) {
      expect(new Set(forms.map(stem)).size).toBe(1);
    }
  });

  it("leaves what is not an English word as it is", () => {
    for (const word of ["sha256", "привет", "id", "constructor__", "x".repeat(64)]) {
      expect(stem(word)).toBe(word);
    }
  });
});

describe("splitStems", () => {
  it("leaves out words that say little", () => {
    expect(splitStems("Please get the weather for all of my cities")).toEqual(["get", "weather", "citi"]);
  });
});
