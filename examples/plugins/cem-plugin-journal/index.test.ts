import { readFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, describe, expect, it, vi } from "vitest";
import type { Plugin, PluginContext } from "code-execution-mcp";
import { agentWith, disposeAgents, temporaryFolder } from "../agent-with.ts";

afterAll(disposeAgents);

const lines = async (file: string): Promise<unknown[]> =>
  (await readFile(file, "utf8").catch(() => ""))
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));

describe("cem-plugin-journal", () => {
  it("writes a line for each run", async () => {
    const file = path.join(await temporaryFolder(), "journal.jsonl");
    const agent = await agentWith("cem-plugin-journal", { file });
    await agent.executeCode("return 1;");
    await agent.executeCode("throw new Error('no');");
    await vi.waitFor(async () => expect(await lines(file)).toHaveLength(2), { timeout: 30_000 });
    expect(await lines(file)).toMatchObject([{ status: "success" }, { status: "error" }]);
  });

  it("has a step of workflows that writes once, however often it is repeated", async () => {
    const file = path.join(await temporaryFolder(), "journal.jsonl");
    const module: { default: Plugin } = await import(new URL("index.js", import.meta.url).href);
    const context = { signal: AbortSignal.timeout(60_000), folder: undefined, variable() {}, log() {} };
    const { steps } = await module.default.setup({ file }, context as PluginContext);
    const step = steps?.[0];
    const work = { step: "note", idempotencyKey: "run-1/note" } as never;
    expect(await step?.run({ text: "done" }, work)).toEqual({ written: true });
    expect(await step?.run({ text: "done" }, work)).toEqual({ written: false });
    expect(await lines(file)).toEqual([{ step: "note", text: "done", key: "run-1/note" }]);
  });
});
