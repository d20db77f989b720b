import { describe, expect, it } from "vitest";
import { createRulesGenerator } from "./rules-generator.ts";
import { otherTools, sampleTools } from "./testing/tools.ts";

const generator = createRulesGenerator({ now: () => new Date("2026-11-20T12:00:00Z") });
const tools = [...sampleTools, ...otherTools];
const MAX_CHARACTERS = 4_000;

const PIECES: readonly (readonly [string, string, string])[] = [
  ["quotes", "", "'"],
  ["quoted texts", "Print ", '"a" and '],
  ["open quotes", "", "\"a 'b `c "],
  ["brackets", "", "([{"],
  ["nested expression", "Calculate ", "("],
  ["long expression", "Calculate 1", " + 1"],
  ["steps", "", "add 1 and 2 and then "],
  ["digits", "Calculate 1 + ", "7"],
  ["bullets", "", "\n- a: 1"],
  ["spaces", "Get weather for ", " "],
  ["words", "Get weather for ", "a "],
  ["names", "Get weather for ", "Paris, "],
  ["slashes", "Read ", "/a"],
  ["dots", "Read ", "a."],
  ["conditions", "Query database for users where ", "age > 3 and "],
  ["fields", "Save state to /workspace/a.json with ", "a 1, "],
  ["comparisons", "Calculate 1 + 1. If ", "it is above "],
];

describe("createRulesGenerator", () => {
  describe("generate, for long text", () => {
    it.each(PIECES)("answers for as many %s as it reads", { timeout: 15_000 }, async (_, start, piece) => {
      const task = start + piece.repeat(Math.floor((MAX_CHARACTERS - start.length) / piece.length));
      await expect(generator.generate({ task, tools })).resolves.toHaveProperty("status");
    });

    it.each(PIECES)("refuses more %s at once", async (_, start, piece) => {
      const result = await generator.generate({ task: start + piece.repeat(65_000), tools });
      expect(result).toMatchObject({
        steps: [{ reason: "not-understood", hint: expect.stringContaining("4,000 at most") }],
      });
    });
  });
});
