import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { createRulesGenerator } from "./rules-generator.ts";
import { createWorkspace } from "./testing/run-code.ts";
import { otherTools, realTools, sampleTools, serverTools } from "./testing/tools.ts";

const generator = createRulesGenerator({ now: () => new Date("2026-11-20T12:00:00Z") });
/** Runs the programs of tests that leave no state behind. */
const shared = createWorkspace(afterAll);
const FLOW = { workflow_id: "calc_001", total_steps: 3 };
const CREATE =
  'workflow_state.json with: - workflow_id: "calc_001" - current_step: 1 - total_steps: 3 - results: [] - status: "in_progress"';

/** The program for a task: with servers beside the samples it has to be the same. */
async function codeOf(task: string): Promise<string> {
  const alone = await generator.generate({ task, tools: sampleTools });
  if (alone.status === "refused") throw new Error(JSON.stringify(alone.steps));
  for (const added of [
    realTools,
    [...otherTools, ...serverTools],
    [...serverTools, ...realTools, ...otherTools],
  ]) {
    const beside = await generator.generate({ task, tools: [...sampleTools, ...added] });
    expect(beside).toMatchObject({ status: "generated", code: alone.code });
  }
  return alone.code;
}

describe("the tasks of the examples and documents", () => {
  it.each<[string, unknown]>([
    ["Calculate 5 + 3", 8],
    ["Calculate 10 * 5", 50],
    ["Calculate 6 * 7", 42],
    ["Add 2 and 3", 5],
    ["Add 5 and 3", 8],
    ["Divide 6 by 3", 2],
    ["Calculate (5 + 3) * 2", 16],
    ["Calculate 2 + 3, then multiply the result by 4", 20],
    ["Calculate 10 * 5 = 50", 50],
    ["Calculate 12 * 12 and use the double_number skill on the result", 288],
    ["Import the double_number skill and use it to double 15", 30],
    ["Use the double_number skill on 14", 28],
    ["Calculate 5 + 3 and 6 + 4 and 7 + 5", { sum: 8, sum2: 10, sum3: 12 }],
  ])("%s", async (task, expected) => {
    expect((await shared.run(await codeOf(task))).value).toEqual(expected);
  });

  it.each<[string, unknown]>([
    ["Calculate 5 + 3 and get weather for San Francisco", { sum: 8, weather: { location: "San Francisco" } }],
    ["Get weather for San Francisco", { location: "San Francisco" }],
    [
      "Get weather for Oslo and London, then find the warmest one",
      { weather: [{}, {}], warmest: { location: "London" } },
    ],
    [
      "Query database for users, filter for active users, and calculate statistics",
      { count: 16, age: { median: 41.5 } },
    ],
    [
      "Get weather for San Francisco, and if temperature is above -50, calculate 365 - 172",
      { difference: 193 },
    ],
  ])("%s", async (task, expected) => {
    expect((await shared.run(await codeOf(task))).value).toMatchObject(expected as object);
  });

  it("get the weather for that many cities", async () => {
    const task = "Calculate 2 * 3, then get the weather for that many cities starting with San Francisco";
    const cities = (await shared.run(await codeOf(task))).value as { location: string }[];
    expect([cities.length, cities[0]?.location]).toEqual([6, "San Francisco"]);
  });

  it("write a file on a condition, and read files", async () => {
    const workspace = createWorkspace(onTestFinished);
    await workspace.run(
      await codeOf(
        "Get weather for Cairo, and if the temperature is above 10, write 'light clothes' to packing.txt, otherwise write 'coat' to packing.txt",
      ),
    );
    expect((await workspace.run(await codeOf("Read packing.txt"))).value).toBe("light clothes");
    const test = await codeOf(
      "Write a test file with content 'Hello World', then read it back and print the content",
    );
    expect(await workspace.run(test)).toEqual({ value: "Hello World", output: "Hello World\n" });
    workspace.write("sales.csv", "region,amount\nNorth,5\nSouth,7\n");
    expect((await workspace.run(await codeOf("add up the amount column of sales.csv"))).value).toBe(12);
  });

  it("keep state over sessions", async () => {
    const workspace = createWorkspace(onTestFinished);
    const run = async (task: string): Promise<unknown> => (await workspace.run(await codeOf(task))).value;
    await run(
      'Calculate 5 + 3, then save the result to /workspace/state.json with step: 1 and message: "Saved in session 1"',
    );
    await run(
      "Read the state from /workspace/state.json. Calculate the next step (result + 1) and save it back to /workspace/state.json with step: 2.",
    );
    const saved = { result: 9, step: 2, message: "Saved in session 1" };
    expect(await run("Read /workspace/state.json")).toEqual(saved);
    await run(
      `Create /workspace/${CREATE}\nThen calculate 10 * 5 and add the result to the results array. Update current_step to 2. Save the state.`,
    );
    await run(
      "Read /workspace/workflow_state.json. Calculate 20 * 3 and add the result to the results array. Update current_step to 3. Save the updated state.",
    );
    await run(
      'Read /workspace/workflow_state.json. Calculate 15 * 4 and add the result to the results array. Calculate the sum of all results. Add a "total" field with the sum. Update current_step to 4. Update status to "completed". Save the final state.',
    );
    const done = { current_step: 4, results: [50, 60, 60], status: "completed", total: 170 };
    expect(await run("Read /workspace/workflow_state.json")).toEqual({ ...FLOW, ...done });
    expect(workspace.readJson("state.json")).toEqual(saved);
  });

  it.each(["Send an email to bob@example.com", "Write a poem", "Calculate 10 * 5 = 51"])(
    "are refused where the samples can't: %s",
    async (task) => {
      await expect(codeOf(task)).rejects.toThrow(/not understood|is 50, not 51/u);
    },
  );
});
