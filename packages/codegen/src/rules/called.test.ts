import { describe, expect, it } from "vitest";
import { createRulesGenerator } from "./rules-generator.ts";
import { sampleTools } from "./testing/tools.ts";

const generator = createRulesGenerator({ now: () => new Date("2026-11-20T12:00:00Z") });

async function generate(task: string): Promise<string> {
  const result = await generator.generate({ task, tools: sampleTools });
  return result.status === "generated" ? result.code : JSON.stringify(result.steps);
}

describe("createRulesGenerator", () => {
  describe("generate, where words call a result by what was calculated", () => {
    it.each([
      ["Calculate 2 + 3. Calculate the sum of 4 and 5. Save the sum to x.json", "JSON.stringify(sum2,"],
      ["Calculate the sum of 4 and 5. Calculate 2 + 3. Save the sum to x.json", "JSON.stringify(sum,"],
      ["Calculate the sum of 4 and 5. Calculate 2 + 3. Multiply the sum by 2", "{ a: sum, b: 2 }"],
      ["Calculate 2 + 3. Calculate the sum of 4 and 5. Print the sum", "readable(sum2)"],
      [
        "Calculate 2 + 3. Calculate the sum of 4 and 5. If the sum is above 10, calculate 1 + 1",
        "sum2 > 10 ?",
      ],
      [
        "Calculate the average of 2 and 4. Calculate 10 * 2. Save the average to x.json",
        "JSON.stringify(result,",
      ],
      ["Calculate 2 + 3. Calculate 4 * 5. Calculate the sum. Save the sum to x.json", "sum + product"],
      ["Calculate 2 + 3. Calculate 4 * 5. Save the sum of all results to x.json", "sum + product"],
    ])("%s", async (task, code) => {
      expect(await generate(task)).toContain(code);
    });

    it.each([
      ["Calculate 2 + 3. Calculate 4 + 5. Save the sum to x.json", "Calculate 2 + 3", "Calculate 4 + 5"],
      ["Calculate 2 + 3. Calculate 4 * 5. Save the sum to x.json", "Calculate 2 + 3", "Calculate 4 * 5"],
      [
        "Calculate the sum of 1 and 2. Calculate the sum of 4 and 5. Print the sum",
        "of 1 and 2",
        "of 4 and 5",
      ],
      ["Calculate 2 * 3. Calculate 4 * 5. Save the product to x.json", "Calculate 2 * 3", "Calculate 4 * 5"],
      ["Calculate 2 + 3. Calculate 4 + 5. If the sum is above 10, calculate 1 + 1", "2 + 3", "4 + 5"],
    ])("refuses with both named: %s", async (task, first, second) => {
      const said = await generate(task);
      expect(said).toContain("may mean the result of");
      expect(said).toContain(first);
      expect(said).toContain(second);
    });
  });

  it.each([
    ["Sum the numbers from 1 to 100", "(1 + 100) * 100 / 2"],
    ["What is the sum of all integers between 5 and 7?", "(5 + 7) * 3 / 2"],
    ["Calculate the average of the numbers from 1 to 10", "(1 + 10) / 2"],
    ["Create a folder reports", 'mkdir("reports", { recursive: true })'],
    ["If it is colder than 10 degrees in Oslo, calculate 2 + 3", "weather.temperature < 10"],
  ])("%s", async (task, code) => {
    expect(await generate(task)).toContain(code);
  });

  it.each(["Sum the even numbers from 1 to 100", "Create a folder ../up", "Sum the numbers from 1.5 to 9"])(
    "refuses %s",
    async (task) => {
      expect((await generator.generate({ task, tools: sampleTools })).status).toBe("refused");
    },
  );

  it.each(["What can you do?", "help", "What tools do you have?"])(
    "says that %s is no task",
    async (task) => {
      expect(await generate(task)).toContain("asks what there is");
    },
  );
});
