import { readFileSync } from "node:fs";
import path from "node:path";
import { array, assert, constantFrom, oneof, property, string } from "fast-check";
import { countTokens as countByLibrary } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, it } from "vitest";
import { vocabularyFile } from "../../scripts/vocabulary-file.ts";
import { countTokens } from "./count-tokens.ts";
import { Vocabulary } from "./bpe-ranks.ts";

const file = readFileSync(path.join(import.meta.dirname, "../../o200k_base.bin"));
const vocabulary = new Vocabulary(file);
const count = (text: string): number => countTokens(text, vocabulary);
const reference = (text: string): number => countByLibrary(text, { disallowedSpecial: new Set() });

const PARTS = [
  "a",
  "A",
  "ß",
  "İ",
  " ",
  "\n",
  "\t",
  "é",
  "\u0300",
  "あ",
  "漢",
  "🙂",
  "\ud800",
  "'s",
  "'LL",
  "12",
  "==",
];

describe("the vocabulary", () => {
  it("is what `pnpm generate` writes", () => {
    expect(file.equals(vocabularyFile())).toBe(true);
  });

  it("is refused when it is damaged", () => {
    expect(() => new Vocabulary(file.subarray(0, -1))).toThrow("damaged");
  });
});

describe("countTokens", () => {
  it("counts as gpt-tokenizer does, whatever the text", () => {
    const text = oneof(
      string({ unit: "binary", maxLength: 60 }),
      string({ unit: "grapheme", maxLength: 60 }),
      array(constantFrom(...PARTS), { maxLength: 40 }).map((parts) => parts.join("")),
    );
    assert(
      property(text, (sample) => {
        expect(count(sample)).toBe(reference(sample));
      }),
      { numRuns: 300 },
    );
  });

  it("counts source and prose as gpt-tokenizer does", () => {
    for (const name of ["../../README.md", "../../package.json", "count-tokens.ts"]) {
      const text = readFileSync(path.join(import.meta.dirname, name), "utf8");
      expect(count(text)).toBe(reference(text));
    }
  });

  it("counts a piece as long as a text, which gpt-tokenizer takes minutes for", () => {
    for (const [part, tokens] of [
      [" ", 1_563],
      ["ab", 50_000],
    ] as const) {
      const times = 1_000 / part.length;
      expect(count(part.repeat(times))).toBe(reference(part.repeat(times)));
      expect(count(part.repeat(times * 200))).toBe(tokens);
    }
  });
});
