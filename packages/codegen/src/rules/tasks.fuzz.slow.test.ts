import { parseProgram } from "@cem/program";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FUZZ_TIMEOUT_MS, fuzzing } from "../../../../vitest.fuzz.ts";
import { createRulesGenerator } from "./rules-generator.ts";
import { otherTools, sampleTools } from "./testing/tools.ts";

const generator = createRulesGenerator({ now: () => new Date("2026-11-20T12:00:00Z") });
const tools = [...sampleTools, ...otherTools];
const WORDS =
  "add 5 and 3 then get the weather in Paris for each city save it to a.json if otherwise multiply result by -2 \"x\" 'y' ( ) [ { } , . ; : % $ 天気 é 🌦 __proto__ constructor toString ${ `  \\ \n 1. - that many SELECT FROM of print largest 10^3 sqrt 2026-01-01".split(
    " ",
  );

describe("any task text", () => {
  it("becomes a program that parses, or a refusal", { timeout: FUZZ_TIMEOUT_MS }, async () => {
    const text = fc.oneof(
      fc.array(fc.constantFrom(...WORDS, "\n"), { maxLength: 30 }).map((words) => words.join(" ")),
      fc.string({ unit: "binary", maxLength: 80 }),
    );
    await fc.assert(
      fc.asyncProperty(text, async (task) => {
        const generated = await generator.generate({ task, tools });
        const isRight =
          generated.status === "generated"
            ? !("error" in parseProgram(generated.code))
            : Array.isArray(generated.steps);
        expect(isRight).toBe(true);
      }),
      fuzzing(200),
    );
  });
});
