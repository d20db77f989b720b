import { describe, expect, it } from "vitest";
import { readProgressTask } from "./progress-tasks.ts";

describe("readProgressTask", () => {
  it.each([
    ["Save current progress to state.json and continue", "state.json"],
    ["save the current progress to state.json.", "state.json"],
    ["Please save my progress in /workspace/state.json", "state.json"],
    ["Save the progress so far to notes/today.json, then continue.", "notes/today.json"],
    ["Save progress", "state.json"],
  ])("saves: %s", (task, file) => {
    expect(readProgressTask(task)).toEqual({ kind: "save", file });
  });

  it.each([
    ["Continue from step 2", 2],
    ["Please continue with step 12!", 12],
    ["Continue where we left off", undefined],
    ["resume where you left off", undefined],
  ])("continues: %s", (task, step) => {
    expect(readProgressTask(task)).toEqual({ kind: "continue", step });
  });

  it.each([
    "Save progress to ../state.json",
    "Save progress to /etc/state.json",
    "Save progress to a/../../b.json",
    "Save the progress report of May to report.json",
    "Continue the report about step 2",
    "Continue from step 2 and delete the file",
    "Continue from step -1",
    "Calculate 5 + 3",
    `Save progress ${"x".repeat(10_000)}`,
  ])("leaves other tasks alone: %s", (task) => {
    expect(readProgressTask(task)).toBeUndefined();
  });
});
