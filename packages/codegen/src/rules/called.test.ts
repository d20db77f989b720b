import { describe, expect, it } from "vitest";
import { createRulesGenerator } from "./rules-generator.ts";
import { sampleTools } from "./testing/tools.ts";

const generator = createRulesGenerator({ now: () => new Date("2026-11-20T12:00:00Z") });

async function generate(task: string): Promise<string> {
  const result = await generator.generate({ task, tools: sampleTools });
  return result.status === "generated" ? result.code : JSON.stringify(result.steps);
}

describe("createRulesGenerator", () => {
  it.each([
    ["Calculate 2 + 3. Calculate 4 * 5. Save the sum to x.json", "JSON.stringify(sum,"],
    ["Calculate 2 + 3. Calculate 4 * 5. Save the first result to x.json", "JSON.stringify(sum,"],
    ["Calculate 2 + 3. Calculate 4 * 5. Save it to x.json", "JSON.stringify(product,"],
    ["Calculate 2 + 3. Calculate 4 * 5. Save all results to x.json", "JSON.stringify([sum, product],"],
    ["Calculate 2 + 3. If the sum is above 10, calculate 1 + 1", "sum > 10 ?"],
  ])("means the result that words name: %s", async (task, code) => {
    expect(await generate(task)).toContain(code);
  });

  it.each([
    ["Calculate 2 + 3. Calculate 4 + 5. Save the sum to x.json", "Calculate 2 + 3", "Calculate 4 + 5"],
    ["Calculate 2 * 3. Calculate 4 * 5. Print the product", "Calculate 2 * 3", "Calculate 4 * 5"],
    ["Calculate 2 + 3. Calculate 4 + 5. If the sum is above 10, calculate 1 + 1", "2 + 3", "4 + 5"],
  ])("refuses with both named: %s", async (task, first, second) => {
    const said = await generate(task);
    expect(said).toContain("may mean the result of");
    expect(said).toContain(first);
    expect(said).toContain(second);
  });

  it.each(['it as {"sum": the sum}', "the sum as [the sum]", "{sum: the result}"])(
    "refuses a value in a shape that it does not write: %s",
    async (what) => {
      expect(await generate(`Calculate 4 + 5. Save ${what} to x.json`)).toContain(
        "is neither the result of an earlier",
      );
    },
  );

  it.each(["What can you do?", "help", "What tools do you have?"])(
    "says that %s is no task",
    async (task) => {
      expect(await generate(task)).toContain("asks what there is");
    },
  );
});
