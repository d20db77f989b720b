import { describe, expect, it } from "vitest";
import { splitSteps } from "./split-steps.ts";

const texts = (task: string): string[] => splitSteps(task).map((step) => step.text);

describe("splitSteps", () => {
  it("splits at joining words that a verb follows", () => {
    expect(texts("Calculate 5 + 3 and get weather for San Francisco")).toEqual([
      "Calculate 5 + 3",
      "get weather for San Francisco",
    ]);
    expect(texts("Query database for users, filter for active users, and calculate statistics")).toEqual([
      "Query database for users",
      "filter for active users",
      "calculate statistics",
    ]);
    expect(texts("First read a.txt, then print it; finally delete it")).toEqual([
      "read a.txt",
      "print it",
      "delete it",
    ]);
  });

  it("leaves lists of things together", () => {
    expect(texts("Get weather for Paris, London and Tokyo")).toHaveLength(1);
    expect(texts("calculate the sum, count and average of totals")).toHaveLength(1);
    expect(texts("Create /workspace/x.json with tasks [] and count 0")).toHaveLength(1);
  });

  it("never splits what is quoted, bracketed or SQL", () => {
    expect(texts(`Write "a, then get b. And; print c" to a.txt`)).toHaveLength(1);
    expect(texts(`Write 'it's fine and print nothing' to a.txt`)).toHaveLength(1);
    expect(texts('Save { "a": "x. Then y", "b": 1 } to a.json')).toHaveLength(1);
    expect(texts("SELECT name, COUNT(*) FROM users WHERE a = 1 AND b = 2, then print it")).toEqual([
      "SELECT name, COUNT(*) FROM users WHERE a = 1 AND b = 2",
      "print it",
    ]);
  });

  it("puts the order first", () => {
    expect(texts("For each of Paris, Rome and Oslo, get the weather")).toEqual([
      "get the weather For each of Paris, Rome and Oslo",
    ]);
    expect(texts('Run the query "SELECT a FROM b" and print the result')).toEqual([
      'Run the query "SELECT a FROM b"',
      "print the result",
    ]);
  });

  it("keeps dots of numbers, paths and abbreviations", () => {
    expect(texts("Read notes/a.b.json. Add 1.5 to it, e.g. twice")).toEqual([
      "Read notes/a.b.json",
      "Add 1.5 to it, e.g. twice",
    ]);
    expect(texts("Update session to 2. Save it")).toEqual(["Update session to 2", "Save it"]);
  });

  it("reads numbered lines and bullets, in lines or in one", () => {
    expect(texts("Do this:\n 1. Calculate 1 + 1\n 2) Print it")).toEqual(["Calculate 1 + 1", "Print it"]);
    expect(texts("1. Calculate 5 + 3 2. Get weather for Oslo 3. Print both")).toEqual([
      "Calculate 5 + 3",
      "Get weather for Oslo",
      "Print both",
    ]);
    expect(splitSteps("Get weather for:\n- Paris\n- London")).toMatchObject([
      { text: "Get weather for", items: ["Paris", "London"] },
    ]);
  });

  it("gives listed fields to the step they describe", () => {
    const inline = splitSteps(
      'Calculate 5 + 3, then save it to /workspace/s.json. The JSON file should contain: - calculation: "5 + 3" - result: 8',
    );
    const lines = splitSteps(
      'Calculate 5 + 3, then save it to /workspace/s.json.\nThe JSON file should contain:\n- calculation: "5 + 3"\n- result: 8\n\nPrint it.',
    );
    const fields = [
      { key: "calculation", value: '"5 + 3"' },
      { key: "result", value: "8" },
    ];
    expect(inline[1]).toMatchObject({ text: "save it to /workspace/s.json", fields });
    expect(lines.map((step) => step.text)).toEqual([
      "Calculate 5 + 3",
      "save it to /workspace/s.json",
      "Print it",
    ]);
    expect(lines[1]?.fields).toEqual(fields);
  });

  it("tells when a step is to be done", () => {
    const [, then, other] = splitSteps(
      "Get weather for Oslo, and if it is above 20, calculate 2 * 3, otherwise print 'cold'",
    );
    expect(then).toMatchObject({
      text: "calculate 2 * 3",
      condition: { text: "it is above 20", holds: true, branch: 1 },
    });
    expect(other).toMatchObject({
      text: "print 'cold'",
      condition: { text: "it is above 20", holds: false, branch: 1 },
    });
    expect(splitSteps("print 'x' if the result is 4")[0]).toMatchObject({
      text: "print 'x'",
      condition: { text: "the result is 4" },
    });
    expect(
      splitSteps("if it is above 15 print 'a' else print 'b'").map((step) => step.condition?.holds),
    ).toEqual([true, false]);
  });

  it("loses no condition that has no step", () => {
    expect(texts("Calculate 1 + 1. If it is above 3")).toEqual(["Calculate 1 + 1", "If it is above 3"]);
  });

  it("answers quickly for hostile text", () => {
    for (const text of [
      "'a ".repeat(30_000),
      "([{".repeat(30_000),
      " ".repeat(90_000),
      "1. ".repeat(30_000),
      "if ".repeat(30_000),
    ]) {
      expect(splitSteps(text).length).toBeLessThan(100_000);
    }
  });
});
