import { describe, expect, it } from "vitest";
import { loadTokenCounter } from "./index.ts";

const count = await loadTokenCounter();

describe("loadTokenCounter", () => {
  describe("counts as OpenAI's tiktoken does with o200k_base", () => {
    it.each([
      ["", 0],
      ["hello world", 2],
      ["  leading and   inner spaces\n\n", 7],
      ["const total = items.reduce((sum, { price }) => sum + price, 0);", 19],
      ["Größenordnung, 東京タワー, привет мир", 12],
      ["👩‍👩‍👧 🙂", 9],
      ["a".repeat(1000), 125],
      ["<|endoftext|>", 7],
      ["before <|endoftext|> after", 9],
    ])("%j has %i", (text, tokens) => {
      expect(count(text)).toBe(tokens);
    });
  });
});
