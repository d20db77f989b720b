import { mkdtemp, readFile, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import type { Agent, JsonObject, TaskResult } from "@cem/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sampleAgent } from "../test/sample-agent.ts";

const root = path.resolve(import.meta.dirname, "../../..");

let workspace: string;
let agent: Agent;

async function succeed(task: string): Promise<TaskResult> {
  const result = await agent.executeTask(task);
  expect(result.error, `${result.code}\n${JSON.stringify(result.error)}`).toBeNull();
  expect(result.status).toBe("success");
  return result;
}

async function workspaceJson(name: string): Promise<JsonObject> {
  return JSON.parse(await readFile(path.join(workspace, name), "utf8"));
}

beforeAll(async () => {
  workspace = await mkdtemp(path.join(os.tmpdir(), "cem-tasks-"));
  agent = sampleAgent(workspace);
});

afterAll(async () => {
  await agent.dispose();
  await rm(workspace, { recursive: true, force: true });
});

describe("executeTask", () => {
  it("calculates and gets the weather", async () => {
    const result = await succeed("Calculate 5 + 3 and get weather for San Francisco");
    expect(result.value).toMatchObject({ sum: 8, weather: { location: "San Francisco", unit: "°C" } });
    expect(result.toolCalls.map(({ server, tool, ok }) => [server, tool, ok])).toEqual([
      ["calculator", "calculate", true],
      ["weather", "get_weather", true],
    ]);
    expect(result.selectedTools.map(({ tool }) => tool)).toEqual(
      expect.arrayContaining(["calculate", "get_weather"]),
    );
    expect(result.contextTokens.saved).toBeGreaterThan(1000);
    expect(result.isolation?.mechanisms).toContain("deno permissions");
  });

  it("queries, filters and sums up", async () => {
    const result = await succeed(
      "Query database for users, filter for active users, and calculate statistics",
    );
    const users = await agent.executeCode(
      'import { query } from "./servers/database/index.ts";\nexport default await query({ sql: "SELECT age FROM users WHERE status = \'active\'" });',
    );
    const ages = (users.value as { age: number }[]).map(({ age }) => age);
    expect(ages.length).toBeGreaterThan(5);
    expect(result.value).toMatchObject({
      count: ages.length,
      age: { count: ages.length, min: Math.min(...ages), max: Math.max(...ages) },
    });
  });

  it("writes a file, reads it back and prints it", async () => {
    const result = await succeed(
      "Write a test file with content 'Hello World', then read it back and print the content",
    );
    expect(result.value).toBe("Hello World");
    expect(result.output).toBe("Hello World\n");
  });

  it("uses a skill", async () => {
    const result = await succeed("Import the double_number skill and use it to double 15");
    expect(result.value).toBe(30);
    expect(result.toolCalls).toMatchObject([{ tool: "double_number", ok: true }]);
  });

  it("keeps state for the next process", async () => {
    await succeed(
      'Calculate 5 + 3, then save the result and metadata to /workspace/state.json. The JSON file should contain: - calculation: "5 + 3" - result: 8 - step: 1 - message: "State saved in session 1"',
    );
    const saved = { calculation: "5 + 3", result: 8, message: "State saved in session 1" };
    expect(await workspaceJson("state.json")).toEqual({ ...saved, step: 1 });
    await agent.dispose();
    agent = sampleAgent(workspace);
    await succeed(
      "Read the state from /workspace/state.json that was saved in a previous session. Update the step field to 2 and save it back",
    );
    expect(await workspaceJson("state.json")).toEqual({ ...saved, step: 2 });
  });

  it("goes on with a workflow over three sessions", async () => {
    await succeed(`
    Initialize a calculation workflow:
    1. Create /workspace/workflow_state.json with:
       - workflow_id: "calc_001"
       - current_step: 1
       - total_steps: 3
       - results: []
       - status: "in_progress"
    2. Calculate 10 * 5 and add the result to the results array
    3. Update current_step to 2
    4. Verify /workspace exists and is mounted
    5. Print confirmation that workflow state was initialized`);
    expect(await workspaceJson("workflow_state.json")).toEqual({
      workflow_id: "calc_001",
      current_step: 2,
      total_steps: 3,
      results: [50],
      status: "in_progress",
    });
    await succeed(`
    Continue the workflow from the previous session:
    1. Read /workspace/workflow_state.json
    2. Print the current state (workflow_id, current_step, results)
    3. Calculate 20 * 3 and add the result to the results array
    4. Update current_step to 3
    5. Verify you can read the state from the previous session
    6. Print confirmation that workflow continued`);
    await succeed(`
    Complete the workflow:
    1. Read /workspace/workflow_state.json
    2. Print the current state (workflow_id, current_step, all results)
    3. Calculate 15 * 4 and add the result to the results array
    4. Calculate the sum of all results in the results array
    5. Update current_step to 4 (completed)
    6. Update status to "completed"
    7. Add a "total" field with the sum of all results
    8. Print a summary of the completed workflow`);
    expect(await workspaceJson("workflow_state.json")).toEqual({
      workflow_id: "calc_001",
      current_step: 4,
      total_steps: 3,
      results: [50, 60, 60],
      status: "completed",
      total: 170,
    });
  });

  it("keeps a workflow's state over four tasks, and JSON of several lines", async () => {
    await succeed(`
        Initialize a workflow:
        1. Create /workspace/steps.json with:
           - workflow_id: "wf_stateful_001"
           - current_step: 0
           - total_steps: 3
           - results: []
           - status: "initialized"
        2. Print confirmation`);
    for (const [step, calculation] of ["10 * 5 = 50", "20 * 3 = 60"].entries()) {
      await succeed(`
        Read /workspace/steps.json.
        Calculate ${calculation}.
        Add the result to the results array.
        Update current_step to ${step + 1}.
        Save the updated state.`);
    }
    await succeed(`
        Read /workspace/steps.json.
        Update status to "completed".
        Update current_step to 3.
        Calculate the sum of all results.
        Add a "total" field with the sum.
        Save the final state.`);
    expect(await workspaceJson("steps.json")).toEqual({
      workflow_id: "wf_stateful_001",
      current_step: 3,
      total_steps: 3,
      results: [50, 60],
      status: "completed",
      total: 110,
    });
    await succeed(`
        Create /workspace/cross.json with:
        {
            "session": 1,
            "step": 1,
            "message": "State created in session 1",
            "data": {"value": 100}
        }
        Print confirmation that state was saved.`);
    await succeed(`
        Read /workspace/cross.json.
        Print the contents.
        Update session to 2, step to 2.
        Add a new field: "session_2_data": {"value": 200}
        Save the updated state.`);
    expect(await workspaceJson("cross.json")).toEqual({
      session: 2,
      step: 2,
      message: "State created in session 1",
      data: { value: 100 },
      session_2_data: { value: 200 },
    });
  });

  it("refuses a result that is stated wrong", async () => {
    const result = await agent.executeTask("Calculate 10 * 5 = 51");
    expect(result.error?.message).toContain("10 * 5 is 50, not 51");
  });

  it("refuses a branch that can't be done before anything ran", async () => {
    const task = (degrees: number) =>
      `Get weather for San Francisco, and if temperature is above ${degrees}, calculate how many days until summer`;
    const changing = `Write "a" to branch.txt. ${task(60)}`;
    for (const given of [task(60), task(-50), changing]) {
      const refused = await agent.executeTask(given);
      expect(refused).toMatchObject({ status: "refused", toolCalls: [] });
      expect(refused.error?.message).toContain("how many days until summer");
    }
    await expect(readFile(path.join(workspace, "branch.txt"))).rejects.toThrow("ENOENT");
  });

  it.each([
    ["above", -50, 193],
    ["above", 60, null],
    ["below", 60, 193],
  ])("calculates only if the temperature is %s %d", async (comparison, degrees, expected) => {
    const result = await succeed(
      `Get weather for San Francisco, and if temperature is ${comparison} ${degrees}, calculate 365 - 172`,
    );
    expect(result.value).toMatchObject({ weather: { location: "San Francisco" }, difference: expected });
  });

  it("gets the weather for that many cities", async () => {
    const result = await succeed(
      "Calculate 10 * 5, then get weather for that many cities starting with San Francisco",
    );
    const locations = (result.value as { location: string }[]).map(({ location }) => location);
    expect(new Set(locations).size).toBe(50);
    expect(locations[0]).toBe("San Francisco");
  });

  it("refuses what no tool can do, before anything ran", async () => {
    const result = await agent.executeTask("Get weather for San Francisco and send it to bob@example.com");
    expect(result).toMatchObject({ status: "refused", value: null, toolCalls: [], isolation: null });
    expect(result.error?.code).toBe("NO_TOOL");
  });
});

describe("executeCode", () => {
  it("refuses an import that can't work, with its line", async () => {
    const result = await agent.executeCode('\nimport { x } from "./servers/wether/index.ts";');
    expect(result).toMatchObject({ status: "refused", error: { code: "CODE_REFUSED" } });
    expect(result.error?.message).toContain("Line 2");
    expect(result.error?.message).toContain("Did you mean weather?");
  });

  it("names the nearest export and the line", async () => {
    const code =
      '\n\nimport { get_wether } from "./servers/weather/index.ts";\nexport default await get_wether({ location: "Oslo" });';
    for (const [typeCheck, status] of [
      ["before", "refused"],
      ["off", "error"],
    ] as const) {
      const result = await agent.executeCode(code, { typeCheck });
      expect(result.status).toBe(status);
      expect(result.error?.message).toContain("get_weather");
      expect(result.error?.details).toMatchObject({ line: 3 });
    }
  });

  it("tells an exception with its line, and the next run works", async () => {
    const broken = await agent.executeCode("const a: number = 1;\nthrow new RangeError(`no ${a}`);");
    expect(broken).toMatchObject({
      status: "error",
      error: { code: "CODE_THREW", details: { name: "RangeError", line: 2 } },
    });
    await expect(agent.executeCode("return 6 * 7;")).resolves.toMatchObject({ status: "success", value: 42 });
  });

  it("ends a loop at the limit", async () => {
    const result = await agent.executeCode("while (true);", { limits: { timeoutMs: 300 } });
    expect(result).toMatchObject({
      status: "timeout",
      error: { code: "RUN_TIMED_OUT", details: { limitMs: 300 } },
    });
  });

  it("holds the guest's tools read-only", async () => {
    const result = await agent.executeCode(
      'import { writeFile } from "node:fs/promises";\nawait writeFile("/workspace/servers/calculator/add.ts", "hacked");',
    );
    expect(result.status).toBe("error");
    expect(await readFile(path.join(root, "servers/calculator/add.ts"), "utf8")).not.toContain("hacked");
  });
});
