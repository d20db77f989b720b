import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { JsonObject } from "@cem/core";
import { beforeEach, expect, it, onTestFinished } from "vitest";
import { countOf, sampleWorkflows, sourceOf } from "../../test/sample-workflows.ts";
import { removeEnded } from "./clean-up.ts";
import { createRunFolders, takeRun } from "./run-folder.ts";

const DAY_MS = 86_400_000;
const COUNT = { name: "a", type: "count", config: { file: "a" } };
const failing = (how: string) => ({ name: "bad", type: "fail", config: { how } });

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "cem-lock-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
});
const runsDir = (): string => path.join(folder, "runs");
const kept = (): string[] => readdirSync(runsDir());

/** Makes a run look as if nobody had been at work on it for two days. */
function age(run: string): void {
  const journal = path.join(runsDir(), run, "journal.jsonl");
  const at = new Date(Date.now() - 2 * DAY_MS);
  const text = readFileSync(journal, "utf8").replaceAll(/"at":"[^"]+"/gu, `"at":"${at.toISOString()}"`);
  writeFileSync(journal, text);
  utimesSync(journal, at, at);
}

it("lists the latest of many runs", async () => {
  const workflows = sampleWorkflows(folder);
  const { run } = await workflows.run(sourceOf([COUNT]));
  const first = path.join(runsDir(), run);
  for (let copy = 0; copy < 200; copy += 1)
    cpSync(first, path.join(runsDir(), `old-${copy}`), { recursive: true, preserveTimestamps: true });
  const after = new Date(Date.now() + 1_000);
  utimesSync(path.join(first, "journal.jsonl"), after, after);
  const listed = await workflows.list();
  expect(listed).toHaveLength(200);
  expect(listed.map((one) => one.run)).toContain(run);
});

it("removes runs that have ended, and none that was interrupted or waits for a decision", async () => {
  const workflows = sampleWorkflows(folder);
  const begin = async (step: JsonObject) => (await workflows.run(sourceOf([step]))).run;
  const done = await begin(COUNT);
  const failed = await begin(failing("code"));
  const uncertain = await begin(failing("timeout"));
  const interrupted = await begin(COUNT);
  const journal = path.join(runsDir(), interrupted, "journal.jsonl");
  writeFileSync(journal, readFileSync(journal, "utf8").replace(/[^\n]+"run-ended"[^\n]+\n$/u, ""));
  for (const run of [done, failed, uncertain, interrupted]) age(run);
  const statuses = new Map((await workflows.list()).map(({ run, status }) => [run, status]));
  expect([failed, uncertain, interrupted].map((run) => statuses.get(run))).toEqual([
    "error",
    "error",
    "interrupted",
  ]);
  // A process was killed while it removed this one.
  mkdirSync(path.join(runsDir(), ".removed-sample-0"));
  const next = async (keep: { count: number; ageMs: number }) =>
    sampleWorkflows(folder, { keep }).run(sourceOf([COUNT]));
  const { run } = await next({ count: 1, ageMs: 3 * DAY_MS });
  await expect.poll(() => kept().toSorted()).toEqual([failed, uncertain, interrupted, run].toSorted());
  const { run: last } = await next({ count: 9, ageMs: DAY_MS });
  await expect.poll(() => kept().toSorted()).toEqual([uncertain, interrupted, run, last].toSorted());
  await expect(workflows.show(failed)).rejects.toMatchObject({ code: "WORKFLOW_RUN_NOT_FOUND" });
});

it("removes a run that others resume and remove at the same time as a whole, or not at all", async () => {
  const workflows = sampleWorkflows(folder);
  for (let round = 0; round < 10; round += 1) {
    rmSync(path.join(folder, "a"), { force: true });
    const { run } = await workflows.run(sourceOf([COUNT, failing("code")]));
    age(run);
    const remove = () => removeEnded(createRunFolders(runsDir()), { count: 0, ageMs: DAY_MS });
    const resume = () =>
      workflows.resume(run).then(
        ({ error }) => error?.code,
        (error: { code: string }) => error.code,
      );
    const [one, other] = await Promise.all([resume(), resume(), remove(), remove()]);
    for (const code of [one, other])
      expect(["TOOL_FAILED", "WORKFLOW_RUN_BUSY", "WORKFLOW_RUN_NOT_FOUND"]).toContain(code);
    // A run of which half was removed would do this again.
    expect(countOf(folder, "a")).toBe(1);
    expect(kept().filter((name) => name.startsWith("."))).toEqual([]);
  }
});

it("lets one of many who want a run execute it", async () => {
  const place = { id: "r", folder, file: "", journal: "" };
  const taken = await Promise.allSettled(Array.from({ length: 20 }, () => takeRun(place)));
  const holders = taken.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  expect(holders).toHaveLength(1);
  await expect(takeRun(place)).rejects.toMatchObject({ code: "WORKFLOW_RUN_BUSY" });
  holders[0]?.release();
  (await takeRun(place)).release();
  expect(readdirSync(folder)).toEqual([]);
});
