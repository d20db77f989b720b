import { splitSteps } from "@cem/text";
import { afterAll, describe, expect, it } from "vitest";
import { readTokens } from "../../language/lexer.ts";
import { finishProgram } from "../../planning/finish.ts";
import { Plan, Unfilled } from "../../planning/plan.ts";
import { readStep } from "../../planning/read-step.ts";
import type { Step } from "../../planning/step.ts";
import { awaited, call, literal, name } from "../../program/expression.ts";
import { printProgram } from "../../program/print-program.ts";
import { createWorkspace } from "../../testing/run-code.ts";
import { sampleTools } from "../../testing/tools.ts";
import { readCalculation } from "../arithmetic/calculation.ts";
import { FILE_PRODUCTIONS } from "./index.ts";
import { readMentionedFile } from "./mentioned-file.ts";

const PRODUCTIONS = [...FILE_PRODUCTIONS, readCalculation];
const workspace = createWorkspace(afterAll);

/** Plans the steps of a task with the productions for files alone; weather can be asked for. */
function planSteps(task: string, tools: Plan["tools"] = []): Plan {
  const plan = new Plan(tools, () => new Date("2026-11-20T12:00:00Z"));
  plan.readAsked = (text) => {
    const place = /^get (?:the )?weather in (\p{Lu}\p{L}+)$/u.exec(text)?.[1];
    if (place === undefined) return undefined;
    const weather = call(name("String"), awaited(call(name("weather"), literal(place))));
    return {
      kind: "call",
      rank: 4,
      lower: () => void plan.declare(weather, { words: "weather", schema: { type: "string" } }),
    };
  };
  for (const [at, one] of splitSteps(task).entries()) {
    plan.stepIndex = at;
    plan.stepText = one.text;
    const { text, fields, items, condition } = one;
    planStep({ text, span: readTokens(text), fields, items, isOtherwise: condition?.holds === false }, plan);
  }
  return plan;
}

function planStep(step: Step, plan: Plan): void {
  let found = readStep(step, plan, PRODUCTIONS);
  const mentioned = found !== undefined && "lower" in found ? undefined : readMentionedFile(step, plan);
  if (mentioned !== undefined) {
    mentioned.open();
    found = readStep(mentioned.step, plan, PRODUCTIONS) ?? found;
  }
  if (found === undefined || !("lower" in found))
    throw new Unfilled(found ?? { step: step.text, reason: "no-tool", hint: "Nothing reads this step." });
  found.lower();
}

/** The program for a task, or why there is none. */
function write(task: string, tools?: Plan["tools"]): string {
  try {
    return printProgram(finishProgram(planSteps(task, tools)));
  } catch (error) {
    if (!(error instanceof Unfilled)) throw error;
    return `refused: ${JSON.stringify(error.step)}`;
  }
}

async function run(task: string): Promise<{ value: unknown; output: string }> {
  return workspace.run(write(task).replaceAll(/"(?=[a-z-]+\.(?:txt|json|md|csv)")/gu, '"/workspace/'));
}

function json(file: string): unknown {
  return workspace.readJson(file);
}

describe("FILE_PRODUCTIONS", () => {
  describe("text files", () => {
    it("writes, reads back, appends, copies and changes case", async () => {
      workspace.write("notes.txt", "alpha\nBeta\n");
      expect(
        await run("Write a test file with content 'Hello World', then read it back and print the content"),
      ).toEqual({
        value: "Hello World",
        output: "Hello World\n",
      });
      expect(
        (await run("Read notes.txt, write its content in upper case to b.txt and read b.txt")).value,
      ).toEqual({
        content: "alpha\nBeta\n",
        content2: "ALPHA\nBETA\n",
      });
      expect(
        (await run("Write the content of notes.txt to c.txt in lower case, then read it back")).value,
      ).toBe("alpha\nbeta\n");
      expect((await run("Append a line 'gamma' to notes.txt and read it back")).value).toBe(
        "alpha\nBeta\ngamma\n",
      );
      expect((await run("copy notes.txt to d.txt, then read d.txt")).value).toBe("alpha\nBeta\ngamma\n");
    });

    it("counts words, lines and characters", async () => {
      workspace.write("poem.txt", "one two\n\nthree\n");
      expect((await run("How many words are in poem.txt?")).value).toBe(3);
      expect((await run("How many lines does poem.txt have?")).value).toBe(3);
      expect((await run("Count the characters in poem.txt")).value).toBe(15);
      expect((await run("Read poem.txt. What is the number of letters in it?")).value).toMatchObject({
        letters: 11,
      });
    });

    it("calls the tools for it where they are chosen", () => {
      const code = write("Write 'x' to a.txt, then read it back", sampleTools);
      expect(code).toContain('await write_file({ path: "a.txt", content: "x" })');
      expect(code).toContain('await read_file({ path: "a.txt" })');
      expect(write("List the files in /workspace/data", sampleTools)).toContain(
        'list_directory({ path: "/workspace/data" })',
      );
      expect(write("List the directory .")).toContain('readdir("');
    });

    it.each([
      ["Write three lines to poem.txt: 'a', 'b', 'c'", "content"],
      ["Write hello to a.txt", "content"],
      ["Calculate 2 + 3 and write both to x.txt", "content"],
      ["Read both files", "path"],
      ["Read a.txt, b.txt and c.txt, then read both files", "path"],
      ['Calculate 2 + 3 and write it as "average"', "path"],
    ])("refuses: %s", (task, argument) => {
      expect(write(task)).toContain(`"argument":"${argument}"`);
    });

    it("renames no file", () => {
      expect(write("Rename a.txt to b.txt")).toContain('"reason":"no-tool"');
    });
  });

  describe("JSON files", () => {
    it("saves fields of the text and computed ones", async () => {
      await run(
        'Calculate 5 + 3, then save the result and metadata to s.json. The JSON file should contain: - calculation: "5 + 3" - result: 8 - step: 1',
      );
      expect(json("s.json")).toEqual({ calculation: "5 + 3", result: 8, step: 1 });
      await run("Calculate (7 + 3) * 2, then save the result to k.json with keys: expression, result");
      expect(json("k.json")).toEqual({ expression: "(7 + 3) * 2", result: 20 });
      await run(
        'Calculate 2 + 3. Calculate 4 * 5. Save a field "sum" with the sum of both results to f.json',
      );
      expect(json("f.json")).toEqual({ sum: 25 });
      await run("Calculate 2 + 3 and save it to d.json together with today's date");
      expect(json("d.json")).toEqual({ sum: 5, date: expect.stringMatching(/^\d{4}-\d\d-\d\d$/u) });
      await run("Create t.json with at: now and status: open");
      expect(json("t.json")).toEqual({ at: expect.stringMatching(/T.*Z$/u), status: "open" });
      await run('Calculate 2 + 3 and write it as "average" to avg.json');
      expect(json("avg.json")).toEqual({ average: 5 });
    });

    it("takes JSON over several lines", async () => {
      await run('Save this to m.json: {\n  "a": 1,\n  "b": [1, 2]\n}');
      expect(json("m.json")).toEqual({ a: 1, b: [1, 2] });
      await run('Save [{"a": 1},\n {"a": 2}] to l.json');
      expect(json("l.json")).toEqual([{ a: 1 }, { a: 2 }]);
    });

    it("changes fields of a file that it reads first", async () => {
      const config = { version: 1, debug: false, tags: ["b", "a"] };
      const changes: [string, object][] = [
        ['Add a "total" field with the sum of 2 and 3 to c.json', { ...config, total: 5 }],
        ["In c.json, increase the version by 2", { ...config, version: 3 }],
        ['Add "c" to the tags in c.json', { ...config, tags: ["b", "a", "c"] }],
        ["Remove the debug field from c.json", { version: 1, tags: ["b", "a"] }],
        ['Rename the field "debug" to "verbose" in c.json', { version: 1, tags: ["b", "a"], verbose: false }],
        ["Sort the tags in c.json", { ...config, tags: ["a", "b"] }],
        ["Update c.json: set version to 2 and debug to true", { ...config, version: 2, debug: true }],
        ['Remove "b" from the tags in c.json', { ...config, tags: ["a"] }],
        ["Read c.json, change the value of debug to true and save it", { ...config, debug: true }],
      ];
      for (const [task, expected] of changes) {
        workspace.write("c.json", JSON.stringify(config));
        await run(task);
        expect({ task, saved: json("c.json") }).toEqual({ task, saved: expected });
      }
    });

    it("saves under another name without changing the file it read", async () => {
      workspace.write("person.json", '{"name":"Ada","city":"London"}');
      await run("Read person.json, change the city to Berlin and save it as berlin.json");
      expect(json("person.json")).toEqual({ name: "Ada", city: "London" });
      expect(json("berlin.json")).toEqual({ name: "Ada", city: "Berlin" });
    });

    it("tells what a file lacks", async () => {
      workspace.write("n.json", '{"a":1}');
      workspace.write("list.json", "[1]");
      await expect(run("Read n.json, set total to the sum")).rejects.toThrow("There is no sum");
      await expect(run("Increase the version by 1 in n.json")).rejects.toThrow('no number "version" in');
      await expect(run('Add "x" to the tags in n.json')).rejects.toThrow('no list "tags" in');
      await expect(run("Set a to 2 in list.json")).rejects.toThrow("holds a list");
      expect(write("Create x.json with b 1. Set total to the sum")).toContain("refused");
      expect(write("Create x.json with b 1. Increase c by 1")).toContain("x.json has no c. It has b.");
    });

    it("carries a workflow from file to file", async () => {
      await run(
        'Create flow.json with:\n- workflow_id: "w"\n- current_step: 1\n- results: []\n- status: running',
      );
      await run(
        "Read flow.json. Print the current state (workflow_id, results). Calculate 20 * 3 and add it to the results array. Increase current_step by one",
      );
      expect(json("flow.json")).toEqual({
        workflow_id: "w",
        current_step: 2,
        results: [60],
        status: "running",
      });
      const last = await run(
        'Read flow.json. Update current_step to 4 (completed). Update status to "completed". Print a summary of the completed workflow. Verify you can read the state from the previous session',
      );
      expect(json("flow.json")).toMatchObject({ current_step: 4, status: "completed" });
      expect(last.output).toContain('"status": "completed"');
      expect(last.output).toContain("Read ");
    });
  });

  describe("results", () => {
    it("prints and gives back what is asked for", async () => {
      workspace.write("people.json", '[{"name":"Ada"},{"name":"Linus"}]');
      expect(await run("Read people.json and print the names")).toMatchObject({ value: ["Ada", "Linus"] });
      expect((await run("Calculate 2 + 3. Calculate 4 * 5. Return the first result")).value).toBe(5);
      expect((await run("Calculate 2 + 3. Calculate 4 * 5. Return the last result")).value).toBe(20);
      expect((await run('Calculate 40 + 2 and return it as {"answer": result}')).value).toEqual({
        answer: 42,
      });
      expect((await run("Calculate 2 + 3 and call it total")).value).toEqual({ total: 5 });
      expect((await run("Print confirmation that the job was done")).output).toBe("The job was done.\n");
    });

    it("verifies files and what they hold", async () => {
      workspace.write("v.txt", "some text");
      expect((await run("Verify /workspace exists and is mounted")).output).toBe(
        "/workspace exists and is mounted.\n",
      );
      expect((await run('Verify that v.txt contains "some"')).output).toContain('v.txt contains "some"');
      await expect(run('Verify that v.txt contains "none"')).rejects.toThrow('does not contain "none"');
      await expect(run("Verify that none.txt exists")).rejects.toThrow("ENOENT");
    });
  });

  /** Sentences and, for each word of them that matters, another of its kind. */
  const CHANGES: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
    ["Write 'one' to a.txt", { one: "two", "a.txt": "b.txt", Write: "Append" }],
    ['Save "x" to a.md', { x: "y", "a.md": "b.md" }],
    ["Append 'one' to a.txt", { one: "two", "a.txt": "b.txt", Append: "Write" }],
    ["copy a.txt to b.txt", { "a.txt": "c.txt", "b.txt": "c.txt", copy: "rename" }],
    ["Read a.txt", { "a.txt": "c.txt", Read: "Delete" }],
    ["Read a.txt and b.txt", { "a.txt": "c.txt", "b.txt": "c.txt" }],
    [
      "Read a.txt, write its content in upper case to b.txt",
      { upper: "lower", "b.txt": "c.txt", content: "title" },
    ],
    ["Write the content of a.txt in lower case to b.txt", { lower: "title", "a.txt": "c.txt" }],
    ["Write the weather in Oslo to a.txt", { Oslo: "Rome", weather: "mood" }],
    ["Save the weather in Oslo to a.json", { Oslo: "Rome", weather: "mood", "a.json": "b.json" }],
    ["How many words are in a.txt?", { words: "lines", "a.txt": "b.txt" }],
    ["Count the characters in a.txt", { characters: "letters", "a.txt": "b.txt" }],
    ["List the files in /workspace/a", { "/workspace/a": "/workspace/b", files: "users" }],
    ["Create a.json with x 1 and y 2", { x: "z", "1": "3", y: "z", "2": "3", "a.json": "b.json" }],
    [
      'Create a.json with name "Ada" and status: done',
      { name: "title", Ada: "Bo", status: "state", done: "open" },
    ],
    ['Save {"x": 1} to a.json', { '{"x": 1}': '{"y": 1}', "a.json": "b.json" }],
    ["Create a.json with made: today", { today: "now", made: "at" }],
    ["Calculate 2 + 3. Save it to a.json", { "2": "4", "+": "-", "a.json": "b.json" }],
    ["Calculate 2 + 3. Save the result to a.json with step: 1", { step: "stage", "1": "2" }],
    [
      "Calculate 2 + 3. Save the result to a.json with keys: expression, result",
      { expression: "color", result: "color" },
    ],
    ["Calculate 2 + 3. Calculate 4 * 5. Save the first result to a.json", { first: "last" }],
    ["Calculate 2 + 3. Calculate 4 * 5. Save both results to a.json", { both: "third", "2": "6" }],
    [
      "Calculate 2 + 3. Calculate 4 * 5. Save the sum of both results to a.json",
      { sum: "average", both: "two" },
    ],
    ["Calculate 2 + 3. Save it to a.json together with today's date", { today: "tomorrow", date: "weather" }],
    ['Calculate 2 + 3. Write it as "total" to a.json', { total: "sum", "a.json": "b.json" }],
    [
      'Add a "total" field with the sum of 2 and 3 to a.json',
      { total: "sum", sum: "average", "2": "5", "3": "5", "a.json": "b.json" },
    ],
    ["Set version to 2 in a.json", { version: "size", "2": "3", "a.json": "b.json", Set: "Sort" }],
    [
      "Read a.json, set status to done and save it",
      { status: "state_of_it", done: "open", "a.json": "b.json" },
    ],
    ["Update a.json: set x to 1 and y to 2", { x: "z", y: "z", "1": "3", "2": "3" }],
    [
      "Increase the version by 2 in a.json",
      { Increase: "Decrease", version: "size", "2": "3", "a.json": "b.json" },
    ],
    ["Reduce the price by 10 % in a.json", { "10": "20", "%": "euros", Reduce: "Raise" }],
    ['Add "x" to the tags in a.json', { x: "y", tags: "names", "a.json": "b.json", Add: "Rename" }],
    ['Remove "x" from the tags in a.json', { x: "y", tags: "names", "a.json": "b.json" }],
    ["Remove the debug field from a.json", { debug: "verbose", field: "row", "a.json": "b.json" }],
    ["Rename the field debug to verbose in a.json", { debug: "x", verbose: "y", "a.json": "b.json" }],
    ["Sort the tags in a.json", { tags: "names", "a.json": "b.json" }],
    ["Sort the tags descending in a.json", { descending: "ascending" }],
    ["Read a.json and print the name", { name: "city", "a.json": "b.json" }],
    ["Read a.json. Print the current state (x, y)", { x: "z", y: "z" }],
    ['Print "hello"', { hello: "bye", Print: "Delete" }],
    ["Print confirmation that the job was done", { job: "task", done: "started" }],
    ["Calculate 2 + 3. Calculate 4 * 5. Return the first result", { first: "last", result: "name" }],
    ["Calculate 2 + 3. Call it total", { total: "sum" }],
    ['Calculate 2 + 3. Return it as {"answer": result}', { answer: "value" }],
    ["Verify that a.txt exists", { "a.txt": "b.txt", exists: "sleeps" }],
    ['Verify that a.txt contains "x"', { "a.txt": "b.txt", x: "y", contains: "lacks" }],
    ["Save the names in a.json to b.json", { names: "ages", "a.json": "c.json", "b.json": "c.json" }],
  ];

  it.each(CHANGES)("no word is without effect: %s", (task, others) => {
    const code = write(task);
    expect(code).not.toContain("refused");
    for (const [word, other] of Object.entries(others)) {
      const changed = task.replace(word, () => other);
      expect({ changed, isSame: changed === task || write(changed) === code }).toEqual({
        changed,
        isSame: false,
      });
    }
  });
});
