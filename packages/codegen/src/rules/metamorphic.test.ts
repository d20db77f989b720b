import { describe, expect, it } from "vitest";
import { checkWords, replacements } from "./testing/metamorphic.ts";
import { wordings, wordingTools } from "./testing/wordings.ts";

const now = () => new Date("2026-11-20T12:00:00Z");
const sets = (["sample", "other", "servers", "real"] as const).map(
  (set) => [set, wordings[set], wordingTools[set]] as const,
);

describe("createRulesGenerator", () => {
  describe("generate, with a word replaced by another of its kind", () => {
    it.each(sets)("writes another program or refuses: %s", { timeout: 120_000 }, async (_, tasks, tools) => {
      const report = await checkWords(
        tasks.map((task) => ({ task, tools })),
        now,
      );
      expect(report.written).toBe(tasks.length);
      expect(report.replaced).toBeGreaterThan(3 * tasks.length);
      expect(report.unheard).toEqual([]);
    });

    it("replaces what says something, and by what is of its kind", () => {
      const task = 'Get the average of 3 and 5.5 before 2024-01-02 in Tokyo, and save it to "a b.json"';
      expect(replacements(task).map(({ word, by }) => [word, by])).toEqual([
        ["Get", "delete"],
        ["average", "sum"],
        ["3", "16"],
        ["5.5", "18.5"],
        ["before", "after"],
        ["2024-01-02", "2021-03-04"],
        ["Tokyo", "Oslo"],
        ["save", "delete"],
        ['"a b.json"', '"other.json"'],
      ]);
    });
  });
});
