import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { loadConfig } from "@cem/config";
import { afterEach, describe, expect, it } from "vitest";
import type { ChatServer } from "../../codegen/fixtures/chat-server.ts";
import { summaryOf } from "../scripts/model/figures.ts";
import type { TaskFigures } from "../scripts/model/figures.ts";
import { measureOwn } from "../scripts/model/measure-own.ts";
import { measureSet } from "../scripts/model/measure-set.ts";
import { OWN_TASKS } from "../scripts/model/own-tasks.ts";
import { startPlayback } from "../scripts/model/playback.ts";
import { readRecordings, RECORDINGS } from "../scripts/model/recordings.ts";
import { readSets } from "../scripts/retrieval-sets.ts";
import { createConfiguredModel } from "./wiring/stages/generators.ts";

let server: ChatServer;
afterEach(() => server.close());

async function measure(
  ids: readonly string[],
  recordings = readRecordings(RECORDINGS),
): Promise<TaskFigures[]> {
  server = await startPlayback(OWN_TASKS, recordings);
  const tasks = OWN_TASKS.filter(({ id }) => ids.includes(id));
  return measureOwn(tasks, { baseUrl: `${server.origin}/v1`, model: "recorded", maxRetries: 0 });
}

function outcomesOf(figures: readonly TaskFigures[]): Record<string, string> {
  return Object.fromEntries(figures.map(({ id, outcome }) => [id, outcome]));
}

describe("the evaluation of a model", () => {
  it("runs tasks with recorded answers: a call, code that is mended or repaired, and a refusal", async () => {
    const figures = await measure([
      "sum",
      "days-between",
      "fahrenheit",
      "recent-mail",
      "express",
      "fax",
      "history",
      "delete-issue",
    ]);
    expect(outcomesOf(figures)).toEqual({
      sum: "first try",
      "days-between": "first try",
      fahrenheit: "after repair",
      "recent-mail": "after repair",
      express: "after repair",
      fax: "refused rightly",
      history: "first try",
      "delete-issue": "refused rightly",
    });
    expect(figures.find(({ id }) => id === "express")?.recall).toBe(1);
    expect(summaryOf("own", figures)).toMatch(
      /^own: 8 tasks, selection recall 100\.0 %, median tokens [\d,]+ in, \d+ out, first try 62\.5 %, after repair 100\.0 %, false refusals 0\.0 %$/u,
    );
  });

  it("tells wrong answers, wrong refusals and a model that fails from what is right", async () => {
    const recordings = new Map([
      ["sum", ["export default 9;"]],
      ["vowels", ["CANNOT: a tool that counts"]],
      ["fax", ["export default 'sent';"]],
      ["express", ["I would rather not."]],
    ]);
    const figures = await measure(["sum", "vowels", "fax", "express", "primes"], recordings);
    expect(outcomesOf(figures)).toEqual({
      sum: "failed",
      vowels: "refused wrongly",
      fax: "failed",
      express: "failed",
      primes: "failed",
    });
    expect(summaryOf("own", figures)).toContain("first try 0.0 %, after repair 0.0 %, false refusals 20.0 %");
  });

  it("has 42 tasks, each with an answer", async () => {
    server = await startPlayback([], new Map());
    const recordings = readRecordings(RECORDINGS);
    expect(OWN_TASKS).toHaveLength(42);
    expect(OWN_TASKS.map(({ id }) => id).filter((id) => !recordings.has(id))).toEqual([]);
    expect(recordings.size).toBe(42);
  });

  it("checks the code for labelled sets without running it", async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), "cem-eval-set-"));
    await mkdir(path.join(folder, "small"));
    const tool = {
      server: "crm",
      tool: "find-customer",
      input_schema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
    };
    const queries = ["Find the customer Ada", "Find Grace", "Find Linus"].map((query) => ({
      query,
      gold: ["crm/find-customer"],
    }));
    const lines = (items: readonly object[]): string => items.map((item) => JSON.stringify(item)).join("\n");
    await writeFile(
      path.join(folder, "small/tools.jsonl"),
      lines([{ ...tool, description: "Find a customer." }]),
    );
    await writeFile(path.join(folder, "small/queries.dev.jsonl"), lines(queries));
    const tasks = queries.map(({ query }) => ({ id: query, task: query }));
    server = await startPlayback(
      tasks,
      new Map([
        ["Find the customer Ada", ['CALL crm.find_customer {"name": "Ada"}']],
        ["Find Grace", ['CALL crm.find_customer {"id": 7}', 'CALL crm.find_customer {"name": "Grace"}']],
        ["Find Linus", ["export default 'Linus';"]],
      ]),
    );
    const [set] = readSets(folder, "queries.dev.jsonl");
    const overrides = { llm: { baseUrl: `${server.origin}/v1`, model: "recorded" } };
    const { config } = await loadConfig({ configFile: false, config: overrides });
    if (set === undefined) throw new Error("There is no set.");
    const figures = await measureSet(set, await createConfiguredModel(config.llm), 10);
    await rm(folder, { recursive: true });
    expect(figures.map(({ outcome, recall }) => [outcome, recall])).toEqual([
      ["first try", 1],
      ["after repair", 1],
      ["failed", 1],
    ]);
  });
});
