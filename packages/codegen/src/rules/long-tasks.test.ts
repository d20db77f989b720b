import { describe, expect, it } from "vitest";
import { createRulesGenerator } from "./rules-generator.ts";
import { otherTools, sampleTools } from "./testing/tools.ts";

const generator = createRulesGenerator({ now: () => new Date("2026-11-20T12:00:00Z") });
const tools = [...sampleTools, ...otherTools];

describe("createRulesGenerator", () => {
  describe("generate, for long text", () => {
    it.each([
      ["quotes", "'".repeat(100_000)],
      ["open quotes", `"a 'b \`c `.repeat(10_000)],
      ["brackets", "([{".repeat(33_000)],
      ["nested expression", `Calculate ${"(".repeat(20_000)}1${")".repeat(20_000)}`],
      ["long expression", `Calculate 1${" + 1".repeat(25_000)}`],
      ["steps", "Calculate 1 + 1 and ".repeat(5_000)],
      ["bullets", "\n- a: 1".repeat(14_000)],
      ["spaces", `Get weather for ${" ".repeat(99_000)}x`],
      ["words", `Get weather for ${"a ".repeat(50_000)}`],
      ["commas", `Get weather for ${"Paris, ".repeat(14_000)}Rome`],
      ["slashes", `Read ${"/a".repeat(50_000)}`],
      ["dots", `Read ${"a.".repeat(50_000)}json`],
      ["unions", `Query database for users where ${"age > 3 and ".repeat(8_000)}x`],
      ["quoted text", `Write '${"to a.txt with the file and ".repeat(4_000)}' to a.txt, then read it back`],
      ["line breaks", `Calculate 1 + 1${"\n \n".repeat(30_000)}then print it`],
      ["fields", `Save state to /workspace/a.json with ${"a 1, ".repeat(20_000)} b 2`],
      ["conditions", `Calculate 1 + 1. If ${"it is above ".repeat(8_000)} 3, calculate 2 + 2`],
    ])("answers within bounds for 100 KB of %s", { timeout: 15_000 }, async (_, task) => {
      await expect(generator.generate({ task, tools })).resolves.toHaveProperty("status");
    });
  });
});
