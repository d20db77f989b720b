import { describe, expect, it } from "vitest";
import { createTermIndex } from "./term-index.ts";
import type { TermIndex } from "./term-index.ts";

const WORDS = ["weather", "calculate", "calendar", "file", "receive", "quer", "get"];

function vocabulary(): TermIndex {
  const words = createTermIndex();
  for (const word of WORDS) words.add(word);
  return words;
}

describe("TermIndex", () => {
  describe("add", () => {
    it("numbers each word once", () => {
      const words = vocabulary();
      expect(words.add("weather")).toBe(0);
      expect(words.add("new")).toBe(WORDS.length);
      expect([words.size, words.find("new"), words.find("unknown")]).toEqual([8, 7, undefined]);
    });
  });

  describe("similar", () => {
    it.each<[string, [string, number][]]>([
      ["wether", [["weather", 0.85]]],
      ["weahter", [["weather", 0.85]]],
      ["recieve", [["receive", 0.85]]],
      ["calculat", [["calculate", 0.85]]],
      // Another first letter is no misspelling: only the shared trigrams count.
      ["feather", [["weather", 10 / 14]]],
      ["calculation", [["calculate", 0.7]]],
      ["files", [["file", 6 / 9]]],
      ["query", [["quer", 6 / 9]]],
      ["fil", []],
      ["weather", []],
      ["xyzzy", []],
    ])("finds what is spelled like %j", (word, expected) => {
      const words = vocabulary();
      const found = words.similar(word).map(({ term, similarity }) => [WORDS[term], similarity]);
      expect(found).toEqual(expected);
    });
  });
});
