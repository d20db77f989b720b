import { describe, expect, it } from "vitest";
import { readProgressTask } from "./progress-tasks.ts";

describe("readProgressTask", () => {
  it.each([
    ["Save current progress to state.json and continue", "state.json"],
    ["save the current progress to state.json.", "state.json"],
    ["Please save my progress in /workspace/state.json and go on", "state.json"],
    ["Can you save the current progress to state.json and continue?", "state.json"],
    ["Store the progress so far in progress.json", "progress.json"],
    ["Save the progress so far to checkpoint.json, then continue.", "checkpoint.json"],
    ["Persist our progress to notes/today.json and carry on with the work", "notes/today.json"],
    ["Save where we are to ./state.json", "state.json"],
    ["Save  your\nprogress", "state.json"],
    ["Save our progress so far into the file notes/state.json and continue", "notes/state.json"],
    ["Append the current progress to the state.json file", "state.json"],
    ["Checkpoint the progress in state.json, then continue with the next step", "state.json"],
  ])("saves: %s", (task, file) => {
    expect(readProgressTask(task)).toEqual({ kind: "save", file });
  });

  it.each<[string, number | undefined, string]>([
    ["Continue from step 2", 2, "state.json"],
    ["Please continue with step two!", 2, "state.json"],
    ["Resume the work at step number 12", 12, "state.json"],
    ["OK, pick it up from step 3", 3, "state.json"],
    ["Start again from step 1", 1, "state.json"],
    ["Continue where we left off", undefined, "state.json"],
    ["resume from the last checkpoint", undefined, "state.json"],
    ["Carry on from progress.json", undefined, "progress.json"],
    ["Load progress from notes/today.json and continue", undefined, "notes/today.json"],
    ["Could you please read the saved state from state.json and continue?", undefined, "state.json"],
  ])("continues: %s", (task, step, file) => {
    expect(readProgressTask(task)).toEqual({ kind: "continue", step, file });
  });

  it.each([
    "Save progress to ../state.json",
    "Save progress to /etc/state.json",
    "Save progress to a/../../b.json",
    "Save progress to .json",
    "Save the progress report of May to report.json",
    "Save the progress of invoice 7 to state.json",
    "Continue the report about step 2",
    "Continue with the next customer",
    "Resume the server",
    "Continue from step 2 and delete the file",
    "Continue from step -1",
    "Continue from step 12345678",
    "Calculate 5 + 3",
    `Save progress ${"x".repeat(10_000)}`,
    `Save ${"current progress so far ".repeat(500)}`,
  ])("leaves other tasks alone: %s", (task) => {
    expect(readProgressTask(task)).toBeUndefined();
  });
});
