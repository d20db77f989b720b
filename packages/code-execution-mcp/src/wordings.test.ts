import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import type { Agent, JsonValue } from "@cem/core";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { sampleAgent } from "../test/sample-agent.ts";

let workspace: string;
let agent: Agent;

const people = [
  { name: "Ada", age: 36, city: "London" },
  { name: "Grace", age: 45, city: "Paris" },
  { name: "Linus", age: 54, city: "Rome" },
];

async function inWorkspace(name: string): Promise<string> {
  return readFile(path.join(workspace, name), "utf8");
}

beforeAll(async () => {
  workspace = await mkdtemp(path.join(os.tmpdir(), "cem-wordings-"));
  agent = sampleAgent(workspace);
});

beforeEach(async () => {
  const files = {
    "person.json": JSON.stringify(people[0]),
    "people.json": JSON.stringify(people),
    "numbers.json": "[3, 1, 4, 1, 5]",
    "config.json": '{"version": 1, "debug": false, "tags": ["a"]}',
    "notes.txt": "alpha\nbeta\n",
  };
  for (const [name, text] of Object.entries(files)) await writeFile(path.join(workspace, name), text);
});

afterAll(async () => {
  await agent.dispose();
  await rm(workspace, { recursive: true, force: true });
});

describe("executeTask, in other words", () => {
  it.each<[string, JsonValue]>([
    ["Is 7 greater than 5?", true],
    ["Take 20, double it, then add 2", 42],
    ["Which is bigger, 17 * 3 or 7 * 8?", 56],
    ['Compute 40 + 2 and return it as {"answer": result}', { answer: 42 }],
    ["Is it warmer in Lisbon than in Dublin?", true],
    ["If the temperature in London is above -60, calculate 3 * 3", 9],
    ["Get all products priced above 50 and count them", 13],
    ["Get orders over 1000 and sum up their totals", 11_383],
    ["users who joined in 2023", []],
    ["How many pending orders are over 200?", 9],
    ["read numbers.json and sum the numbers", 14],
    ["What is the average age in people.json?", 45],
    ["read people.json and print the names", ["Ada", "Grace", "Linus"]],
    ["Read people.json and give me everyone over 40", people.slice(1)],
    ["Read person.json and print the name", "Ada"],
    ["Read people.json and return the first two names", ["Ada", "Grace"]],
    ["Read people.json and print the names of the first two", ["Ada", "Grace"]],
    ["Read people.json and return the last two", people.slice(1)],
    ["Read person.json and numbers.json", { person: people[0] ?? null, numbers: [3, 1, 4, 1, 5] }],
    ["Get all users and print the first three names", ["Alice Johnson", "Bob Smith", "Carla Gomez"]],
    ["Use the calculator to multiply 12 by 12", 144],
    ["Check whether 17 is greater than 3 * 5", true],
    ["Import double_number from skills and double 100, then add 5", 205],
    ["Update config.json: set version to 2", { version: 2, debug: false, tags: ["a"] }],
    ["What is 20% of 150 plus 10?", 40],
    ["Calculate the square root of 144 plus 1", 13],
    ["Convert 100 degrees Celsius to Fahrenheit", 212],
    ["Round 10 / 3 to 3 decimals", 3.333],
    ["Is 15 even?", false],
    ["How many words are in notes.txt?", 2],
    ["Read numbers.json and tell me if the sum is greater than 10", true],
    ["What is the total of all delivered orders?", 9449.49],
    ["How many locations are there?", 86],
    ["Get the names of people older than 40 in people.json", ["Grace", "Linus"]],
    ['Read people.json, calculate the average age, and if it is above 40, print "old"', 45],
    ["How many users live in Berlin?", 2],
    [
      "Add a total field with the sum of 2 and 3 to config.json",
      { version: 1, debug: false, tags: ["a"], total: 5 },
    ],
    ["Rename the field debug to verbose in config.json", { version: 1, tags: ["a"], verbose: false }],
    ["Sort the list in numbers.json and save it back", [1, 1, 3, 4, 5]],
  ])("answers exactly: %s", async (task, expected) => {
    const { error, value } = await agent.executeTask(task);
    expect({ error, value }).toEqual({ error: null, value: expected });
  });

  it.each<[string, object]>([
    ["What is 7 plus 3, and what is the weather in Oslo?", { sum: 10, weather: { location: "Oslo" } }],
    [
      "Hi! Could you please tell me what the weather is like in Paris right now? Thanks!",
      { location: "Paris" },
    ],
    ["which is warmer, Oslo or Rome?", { warmest: { location: "Rome" } }],
    ["How many rows does the orders table have?", { rows: 72 }],
    ["How many orders were placed by each user?", { "1": 3, "24": 3 }],
    ["Group the users by city and count them", { London: 2, Tokyo: 2 }],
    ["Get user 5", { name: "Emma Wilson" }],
    ["which products are out of stock?", [{ name: "Webcam" }, { name: "Filing Cabinet" }]],
  ])("answers with: %s", async (task, expected) => {
    const { error, value } = await agent.executeTask(task);
    expect({ error, value }).toMatchObject({ error: null, value: expected });
  });

  it("prints text without quotes", async () => {
    expect((await agent.executeTask("Read person.json and print the name")).output).toBe("Ada\n");
  });

  it("changes, copies and saves files", async () => {
    for (const task of [
      "In config.json, increase the version by 1",
      'Add "b" to the tags in config.json',
      "copy notes.txt to backup.txt",
      "read people.json, filter for people older than 40 and save their names to names.json",
      "Read person.json, change the city to Berlin and save it as berlin.json",
    ]) {
      const { error } = await agent.executeTask(task);
      expect({ task, error }).toEqual({ task, error: null });
    }
    expect(JSON.parse(await inWorkspace("config.json"))).toEqual({
      version: 2,
      debug: false,
      tags: ["a", "b"],
    });
    expect(await inWorkspace("backup.txt")).toBe("alpha\nbeta\n");
    expect(JSON.parse(await inWorkspace("names.json"))).toEqual(["Grace", "Linus"]);
    expect(JSON.parse(await inWorkspace("berlin.json"))).toEqual({ ...people[0], city: "Berlin" });
  });

  it("takes both for the two that were spoken of", async () => {
    const copied = await agent.executeTask("Read notes.txt and numbers.json and write both to a text file");
    expect([copied.status, await inWorkspace("file.txt")]).toEqual([
      "success",
      "alpha\nbeta\n\n[3, 1, 4, 1, 5]\n",
    ]);
    const read = await agent.executeTask("Write 'one' to a.txt, write 'two' to b.txt, then read both files");
    expect(read.value).toEqual({ content: "one", content2: "two" });
    const weather = await agent.executeTask("Get the weather for Oslo and Paris and write both to both.txt");
    expect([weather.status, JSON.parse(await inWorkspace("both.txt"))]).toMatchObject([
      "success",
      [{ location: "Oslo" }, { location: "Paris" }],
    ]);
  });

  it("carries a workflow on from file to file", async () => {
    for (const task of [
      'Create /workspace/flow.json with workflow_id "wf-7", current_step 1, total_steps 3, results [] and status "running"',
      "Calculate 8 * 4 and add the result to results in /workspace/flow.json, then set current_step to 2",
      "Read /workspace/flow.json, calculate 20 * 3, add it to the results and increase current_step by one",
      "Load the workflow from /workspace/flow.json, sum all results, store it as total and set status to completed",
      'Read /workspace/flow.json, set status to "closed" and current_step to 4, and save it',
      "Calculate (7 + 3) * 2, then save the result to /workspace/sum.json with keys: expression, result",
    ]) {
      const { error } = await agent.executeTask(task);
      expect({ task, error }).toEqual({ task, error: null });
    }
    expect(JSON.parse(await inWorkspace("flow.json"))).toEqual({
      workflow_id: "wf-7",
      current_step: 4,
      total_steps: 3,
      results: [32, 60],
      status: "closed",
      total: 92,
    });
    expect(JSON.parse(await inWorkspace("sum.json"))).toEqual({ expression: "(7 + 3) * 2", result: 20 });
  });

  it.each([
    "Calculate 6 * 7 and save it to y.json with fields color and result",
    "Get the weather for Paris twice a day",
    "Get the weather for Paris but not for Rome",
    "Don't get the weather for Paris",
    "Get users with shoe size above 40",
    "Double 8 twice",
    "Get the weather in Oslo in Kelvin",
    "Get the weather in Oslo on 2020-01-01",
    "Update config.json: set version to 2 except debug",
    "Append 'x' to notes.txt twice",
    "Print hello world",
    "What is half of 90 plus 10?",
    "Get the weather for Oslo and print the temperature in Kelvin",
    "Calculate 7 + 8, translate it into French",
    "Write 'x' to a.txt, upload it to S3",
  ])("refuses: %s", async (task) => {
    expect(await agent.executeTask(task)).toMatchObject({ status: "refused", value: null, toolCalls: [] });
  });
});
