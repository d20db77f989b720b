import type { GeneratedCode } from "@cem/core";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { createRulesGenerator } from "./rules-generator.ts";
import { createWorkspace } from "./testing/run-code.ts";
import { sampleTools } from "./testing/tools.ts";

const generator = createRulesGenerator({ now: () => new Date("2026-11-20T12:00:00Z") });

async function generate(task: string): Promise<GeneratedCode> {
  const result = await generator.generate({ task, tools: sampleTools });
  if (result.status === "refused") throw new Error(JSON.stringify(result.steps));
  return result;
}

/** Runs the programs of tests that leave no state behind. */
const shared = createWorkspace(afterAll);

async function run(task: string, workspace = shared): Promise<{ value: unknown; output: string }> {
  return workspace.run((await generate(task)).code);
}

describe("createRulesGenerator", () => {
  describe("generate", () => {
    it("writes what an engineer would write", async () => {
      const { code, uses, origin } = await generate("Calculate 5 + 3 and get weather for San Francisco");
      expect(code).toBe(`import { calculate } from "./servers/calculator/index.ts";
import { get_weather } from "./servers/weather/index.ts";

const sum = await calculate({ expression: "5 + 3" });
const weather = await get_weather({ location: "San Francisco" });

export default { sum, weather };
`);
      expect(uses.map((tool) => tool.name)).toEqual(["calculate", "get_weather"]);
      expect(origin).toBe("rules");
    });

    it("gives the same code for the same request", async () => {
      const task = "Query database for users, filter for active users, and calculate statistics";
      expect((await generate(task)).code).toBe((await generate(task)).code);
    });

    it("asks first for what is to be saved", async () => {
      const { code } = await generate("Save the weather in Oslo to oslo.txt");
      expect(code).toContain('await get_weather({ location: "Oslo" })');
      expect(code).toContain('await writeFile("oslo.txt", toText(weather))');
    });

    it("calculates, with tools or without", async () => {
      expect((await run("Calculate 5 + 3 and get weather for San Francisco")).value).toMatchObject({
        sum: 8,
        weather: { location: "San Francisco" },
      });
      const plain = await generator.generate({
        task: "Calculate 2 + 3, then multiply the result by 4",
        tools: [],
      });
      expect(plain).toMatchObject({ status: "generated", uses: [] });
      const code = plain.status === "generated" ? plain.code : "";
      expect((await shared.run(code)).value).toBe(20);
    });

    it.each([
      ["What is 15% of 80?", 12],
      ["Add 2 and 3, then multiply the result by 4", 20],
      ["divide 100 by 7 and round to 2 decimals", 14.29],
      ["Calculate twelve times two", 24],
      ["Calculate (1,200 - 300) / 3", 300],
      ["Compute 3.5 * (2 - 8) / -4", 5.25],
      ["Calculate 2 + 3 and 4 * 5, then add both results", 25],
      ["Calculate 9 - 2. Calculate 4 * 5. Subtract the first result from the second result", 13],
      ["Multiply 3 by 4, add 5, and divide by 2", 8.5],
      ["Use double_number to double 21 and then double the result", 84],
      ["Import the double_number skill and use it to double 15", 30],
      ["Query database for orders, filter for delivered orders, and sum the total", 9449.49],
      ["Calculate 10 / 4 using the calculator, then store the result in a file called quotient.txt", 2.5],
      ["List the tables and count them", 3],
      ["If 5 + 5 is greater than 8, calculate 1 + 1", 2],
    ])("%s", async (task, expected) => {
      expect((await run(task)).value).toBe(expected);
    });

    it("filters rows and sums them up", async () => {
      const { value } = await run(
        "Query database for users, filter for active users, and calculate statistics",
      );
      expect(value).toMatchObject({ count: 16, age: { count: 16, min: 21, max: 63, median: 41.5 } });
      expect(value).not.toHaveProperty("id");
      const top = await run("Query database for the orders, sort by total descending, take the top 5");
      const totals = (top.value as { total: number }[]).map((order) => order.total);
      expect(totals).toHaveLength(5);
      expect(totals).toEqual(totals.toSorted((a, b) => b - a));
      const tokyo = await run("Query database for users in Tokyo, then sort them by name");
      expect(tokyo.value).toMatchObject([{ name: "Hiro Tanaka" }, { name: "Tara Singh" }]);
    });

    it("writes a file, reads it back and prints it", async () => {
      const result = await run(
        "Write a test file with content 'Hello World', then read it back and print the content",
      );
      expect(result).toEqual({ value: "Hello World", output: "Hello World\n" });
      const quoted = await run(
        `Write "Hello, World and more; done. Really?" to greeting.txt, read it back, and print it`,
      );
      expect(quoted.value).toBe("Hello, World and more; done. Really?");
    });

    it("saves listed fields and changes them in a later session", async () => {
      const workspace = createWorkspace(onTestFinished);
      await run(
        'Calculate 5 + 3, then save the result and metadata to /workspace/state.json. The JSON file should contain: - calculation: "5 + 3" - result: 8 - step: 1 - message: "State saved in session 1"',
        workspace,
      );
      expect(workspace.readJson("state.json")).toEqual({
        calculation: "5 + 3",
        result: 8,
        step: 1,
        message: "State saved in session 1",
      });
      await run(
        "Read the state from /workspace/state.json. Update the step field to 2 and save it back",
        workspace,
      );
      expect(workspace.readJson("state.json")).toMatchObject({ result: 8, step: 2 });
      const next = await run(
        "Read the state from /workspace/state.json that was saved in a previous session. Print the contents of the file. Calculate the next step (result + 1) and save it back to /workspace/state.json with step: 3.",
        workspace,
      );
      expect(next.output).toContain('"result": 8');
      expect(workspace.readJson("state.json")).toMatchObject({ result: 9, step: 3 });
    });

    it("carries a workflow through three sessions", async () => {
      const workspace = createWorkspace(onTestFinished);
      const first = await run(
        'Initialize a calculation workflow:\n 1. Create /workspace/workflow_state.json with:\n - workflow_id: "calc_001"\n - current_step: 1\n - total_steps: 3\n - results: []\n - status: "in_progress"\n 2. Calculate 10 * 5 and add the result to the results array\n 3. Update current_step to 2\n 4. Verify /workspace exists and is mounted\n 5. Print confirmation that workflow state was initialized',
        workspace,
      );
      expect(first.output).toContain("Workflow state was initialized.");
      expect(workspace.readJson("workflow_state.json")).toEqual({
        workflow_id: "calc_001",
        current_step: 2,
        total_steps: 3,
        results: [50],
        status: "in_progress",
      });
      await run(
        "Continue the workflow from the previous session:\n 1. Read /workspace/workflow_state.json\n 2. Print the current state (workflow_id, current_step, results)\n 3. Calculate 20 * 3 and add the result to the results array\n 4. Update current_step to 3\n 5. Verify you can read the state from the previous session\n 6. Print confirmation that workflow continued",
        workspace,
      );
      expect(workspace.readJson("workflow_state.json")).toMatchObject({ current_step: 3, results: [50, 60] });
      const last = await run(
        'Complete the workflow:\n 1. Read /workspace/workflow_state.json\n 2. Print the current state (workflow_id, current_step, all results)\n 3. Calculate 15 * 4 and add the result to the results array\n 4. Calculate the sum of all results in the results array\n 5. Update current_step to 4 (completed)\n 6. Update status to "completed"\n 7. Add a "total" field with the sum of all results\n 8. Print a summary of the completed workflow',
        workspace,
      );
      expect(last.output).toContain('"total": 170');
      expect(workspace.readJson("workflow_state.json")).toMatchObject({
        current_step: 4,
        results: [50, 60, 60],
        status: "completed",
        total: 170,
      });
    });

    it("saves a state that is written out, and goes on with it in the next session", async () => {
      const workspace = createWorkspace(onTestFinished);
      await run(
        'Calculate 5 + 3, then save the result and metadata to /workspace/state.json.\nThe JSON file should contain:\n- calculation: "5 + 3"\n- result: 8\n- step: 1\nAlso verify that /workspace exists and is mounted.\nPrint a confirmation message when state is saved.',
        workspace,
      );
      const next = await run(
        "Read the state from /workspace/state.json that was saved in a previous session.\nPrint the contents of the file.\nConfirm that you can read the state file from the previous session.\nCalculate the next step (result + 1) and save it back to /workspace/state.json with step: 2.",
        workspace,
      );
      expect(next.output).toContain("Read /workspace/state.json.");
      expect(workspace.readJson("state.json")).toEqual({ calculation: "5 + 3", result: 9, step: 2 });
      const saved = await run(
        'Save state to /workspace/state.json:\n{ "step": 1, "data": {"key": "value"} }\nVerify the file was created.',
        workspace,
      );
      expect(saved.output).toContain("/workspace/state.json exists.");
      expect(workspace.readJson("state.json")).toEqual({ step: 1, data: { key: "value" } });
    });

    it("takes the branch that holds", async () => {
      expect(
        (await run("Get weather for San Francisco, and if temperature is above -50, calculate 365 - 172"))
          .value,
      ).toMatchObject({ difference: 193 });
      expect(
        (await run("Get weather for San Francisco, and if temperature is above 90, calculate 365 - 172"))
          .value,
      ).toMatchObject({ difference: null });
      expect(
        (
          await run(
            "Get the weather for Tokyo. If the temperature is below -60 then calculate 100 / 4, otherwise calculate 100 / 5",
          )
        ).value,
      ).toMatchObject({ result: 20 });
    });

    it("calls a tool for each of several places", async () => {
      const many = (
        await run("Calculate 10 * 5, then get weather for that many cities starting with San Francisco")
      ).value as { location: string }[];
      expect(many).toHaveLength(50);
      expect(many[0]?.location).toBe("San Francisco");
      const list = (await run("Get weather for Paris, London and Tokyo")).value as { location: string }[];
      expect(list.map((weather) => weather.location)).toEqual(["Paris", "London", "Tokyo"]);
      const users = (
        await run("Query the database for users in Berlin, then get weather for each user's city")
      ).value as { location: string }[];
      expect(users.map((weather) => weather.location)).toEqual(["Berlin", "Berlin"]);
    });

    it("reads conditions without commas", async () => {
      const result = await run(
        "Get weather for San Francisco in July, and if it's above -90 degrees print 'nice' else print 'cold'",
      );
      expect(result).toMatchObject({ output: "nice\n", value: { month: "July" } });
    });

    it("keeps what is in a state file that it saves a result to", async () => {
      const workspace = createWorkspace(onTestFinished);
      workspace.write("state.json", '{"step": 7, "owner": "ada"}');
      await run("Calculate 5 + 3 and save the result to /workspace/state.json", workspace);
      expect(workspace.readJson("state.json")).toEqual({ step: 7, owner: "ada", result: 8 });
      await run("Calculate 2 * 3, then save the result to /workspace/state.json with step: 8", workspace);
      expect(workspace.readJson("state.json")).toEqual({ step: 8, owner: "ada", result: 6 });
      await run('Save {"owner": "bob"} to /workspace/state.json', workspace);
      expect(workspace.readJson("state.json")).toEqual({ step: 8, owner: "bob", result: 6 });
      await run("Write 'x' to /workspace/state.json", workspace);
      expect(workspace.readJson("state.json")).toEqual({ step: 8, owner: "bob", result: "x" });
    });

    it("filters, sorts and limits rows of a file, and reports a column that is not there", async () => {
      const workspace = createWorkspace(onTestFinished);
      workspace.write("sales.csv", "region,amount\nNorth,5\nSouth,7\nNorth,11\n");
      const value = async (task: string): Promise<unknown> => (await run(task, workspace)).value;
      expect(await value("add up the amount column of sales.csv")).toBe(23);
      expect(await value("Read sales.csv, keep rows where region is North and sum the amount")).toBe(16);
      expect(await value("Read sales.csv, sort by amount descending and take the top 1")).toEqual([
        { region: "North", amount: 11 },
      ]);
      expect(await value("how many rows are in sales.csv?")).toBe(3);
      await expect(value("add up the price column of sales.csv")).rejects.toThrow("There is no column price");
      await expect(value("Read sales.csv, filter for West rows")).rejects.toThrow('No row holds "West"');
    });

    it("reads, filters and saves JSON", async () => {
      const workspace = createWorkspace(onTestFinished);
      workspace.write(
        "data.json",
        JSON.stringify([
          { name: "b", price: 12 },
          { name: "a", price: 30 },
          { name: "c", price: 5 },
        ]),
      );
      await run(
        "Read /workspace/data.json, filter items where price > 10, sort by name, and save to /workspace/out.json",
        workspace,
      );
      expect(workspace.readJson("out.json")).toEqual([
        { name: "a", price: 30 },
        { name: "b", price: 12 },
      ]);
    });
  });
});
