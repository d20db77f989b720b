import { spawn } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { stripTypeScriptTypes } from "node:module";
import { runInNewContext } from "node:vm";
import type { WorkflowStepKind } from "@cem/core";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { WorkflowResult } from "./index.ts";
import { codeProgram } from "./steps/call-code.ts";
import {
  countOf,
  sampleWorkflows,
  sourceOf,
  TEN_FILES,
  uncertainOutcomes,
} from "../test/sample-workflows.ts";

/** Each test starts processes. */
vi.setConfig({ testTimeout: 120_000 });

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "cem-faults-"));
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(folder, { recursive: true, force: true });
});

const WORKER = path.join(import.meta.dirname, "../test/worker.ts");
const NODE = [process.execPath, "--conditions=@cem/source", WORKER];

/** A worker of another process, with what it says when it is at work and at its end. */
function work(args: string[], command: string[] = []) {
  const [file = "", ...rest] = [...command, ...NODE, folder, ...args];
  const child = spawn(file, rest, { stdio: ["ignore", "pipe", "inherit"] });
  const started = Promise.withResolvers<void>();
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => {
    output += String(chunk);
    if (output.includes("started\n")) started.resolve();
  });
  const ended = new Promise<WorkflowResult>((resolve) =>
    child.once("close", () => {
      started.resolve();
      resolve(JSON.parse(output.trim().split("\n").at(-1) ?? "") as WorkflowResult);
    }),
  );
  return { started: started.promise, ended };
}

const counts = (): number[] => TEN_FILES.map((file) => countOf(folder, file));

describe("a disk that is full", () => {
  // In units of 512 bytes: enough for what the run begins with, too little for its journal.
  it.skipIf(process.platform === "win32")(
    "interrupts the run, which goes on when there is room",
    async () => {
      const limited = ["sh", "-c", 'ulimit -f 4; exec "$@"', "sh"];
      const full = await work([], limited).ended;
      expect(full).toMatchObject({
        status: "interrupted",
        error: { code: "WORKFLOW_RUN_UNWRITABLE", details: { code: "EFBIG" } },
      });
      const journal = path.join(folder, "runs", full.run, "journal.jsonl");
      expect(statSync(journal).size).toBe(2048);
      const workflows = sampleWorkflows(folder);
      const { status, uncertain } = await workflows.show(full.run);
      expect(status).toBe("interrupted");
      const resumed = await workflows.resume(full.run, uncertainOutcomes(folder, uncertain));
      expect(resumed).toMatchObject({ status: "success", error: null });
      expect(counts()).toEqual(TEN_FILES.map(() => 1));
      for (const line of readFileSync(journal, "utf8").trimEnd().split("\n")) JSON.parse(line);
    },
  );
});

describe("two processes that go on with the same run", () => {
  it("are one that does, and one that is refused", async () => {
    const gate = path.join(folder, "gate");
    const first = work(["", "", "{}", gate]);
    await first.started;
    const [found] = await sampleWorkflows(folder).list();
    const run = found?.run ?? "";
    expect(await work([run, "", "{}", gate]).ended).toMatchObject({
      status: "refused",
      error: { code: "WORKFLOW_RUN_BUSY" },
    });
    await expect(sampleWorkflows(folder).resume(run)).rejects.toMatchObject({ code: "WORKFLOW_RUN_BUSY" });
    writeFileSync(gate, "");
    expect(await first.ended).toMatchObject({ status: "success" });
    expect(counts()).toEqual(TEN_FILES.map(() => 1));
  });
});

describe("a step", () => {
  const own = (run: () => unknown): WorkflowStepKind => ({
    specificationVersion: "v1",
    name: "own",
    configSchema: {},
    run: run as WorkflowStepKind["run"],
  });
  const circle: Record<string, unknown> = {};
  circle["self"] = circle;

  it.each<[of: string, value: unknown]>([
    ["a BigInt", 10n],
    ["a circle", circle],
    ["a function", () => 1],
  ])("that came to %s fails, and may have been executed", async (_, value) => {
    const workflows = sampleWorkflows(folder, { stepKinds: [own(() => value)] });
    const failed = await workflows.run(sourceOf([{ name: "s", type: "own" }]));
    const message = expect.stringMatching(
      /^Step s came to a value that JSON can't represent: .+\./u,
    ) as string;
    expect(failed).toMatchObject({ status: "error", error: { code: "RESULT_NOT_JSON", message } });
    expect((await workflows.show(failed.run)).uncertain).toEqual(["s"]);
    const goesOn = { name: "s", type: "own", on_error: "continue" };
    expect(await workflows.run(sourceOf([goesOn]))).toMatchObject({
      status: "success",
      outputs: { s: null },
    });
  });

  it("that is to be tried again in a month is not tried at once", async () => {
    const again = {
      name: "bad",
      type: "fail",
      config: { how: "code" },
      retry: { attempts: 3, delay: 2_592_000 },
    };
    const signal = AbortSignal.timeout(1_000);
    const result = await sampleWorkflows(folder).run(sourceOf([again]), { signal });
    expect(result.status).toBe("cancelled");
    expect(await sampleWorkflows(folder).show(result.run)).toMatchObject({ steps: [{ attempts: 1 }] });
  });

  it("is named by the error that ends its run, with all that it stands in", async () => {
    const inner = { name: "l", type: "count", config: { file: "${{ [1, 2][item + 5] }}" } };
    const outer = { name: "outer", type: "loop", config: { items: [1], steps: [inner] } };
    const { error } = await sampleWorkflows(folder).run(sourceOf([outer]));
    const message = expect.stringMatching(/^Step outer\[0\]\.l: \[1, 2\]\[item \+ 5\] failed: /u) as string;
    expect(error).toMatchObject({ code: "EXPRESSION_FAILED", message, details: { step: "outer[0].l" } });
  });

  it("has its inputs in code as they are, also with a key that is called __proto__", () => {
    const text = String.raw`{"__proto__":{"a":1},"list":[{"__proto__":2}],"quoted":"{\"__proto__\":3}","\"__proto__":4}`;
    const program = stripTypeScriptTypes(codeProgram("out = JSON.stringify(inputs)", JSON.parse(text)));
    expect(runInNewContext(program, { out: "" })).toBe(text);
  });
});

describe("a run", () => {
  it("that was cancelled before it began is cancelled, and can be resumed", async () => {
    const workflows = sampleWorkflows(folder);
    const signal = AbortSignal.abort();
    const source = sourceOf([{ name: "a", type: "count", config: { file: "a" } }]);
    const cancelled = await workflows.run(source, { signal });
    for (const result of [cancelled, await workflows.resume(cancelled.run, { signal })])
      expect(result).toMatchObject({ status: "cancelled", error: { code: "ABORTED" } });
    expect(countOf(folder, "a")).toBe(0);
    expect(await workflows.resume(cancelled.run)).toMatchObject({ status: "success" });
    expect(countOf(folder, "a")).toBe(1);
  });

  it("that had completed was at work as long as it was", async () => {
    const workflows = sampleWorkflows(folder);
    const source = sourceOf([{ name: "a", type: "count", config: { file: "a" } }]);
    const { run } = await workflows.run(source);
    const journal = path.join(folder, "runs", run, "journal.jsonl");
    writeFileSync(journal, readFileSync(journal, "utf8").replaceAll(/"ms":\d+/gu, '"ms":60000'));
    expect((await workflows.resume(run)).ms).toBeGreaterThanOrEqual(60_000);
  });

  it.each<[how: string, onEvent: () => void]>([
    [
      "throws",
      () => {
        throw new Error("no");
      },
    ],
    ["rejects", () => Promise.reject(new Error("no")) as never],
  ])("goes on where its listener %s", async (_, onEvent) => {
    const warned = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    const source = sourceOf([{ name: "a", type: "count", config: { file: "a" } }]);
    const result = await sampleWorkflows(folder).run(source, { onEvent });
    expect(result.status).toBe("success");
    expect(warned).toHaveBeenCalledWith("A listener of workflow events failed: Error: no");
    warned.mockRestore();
  });
});

describe("a clock that jumps", () => {
  it.each(["2001-01-01", "2099-01-01"])("to %s ends no run, and is no time at work", async (day) => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const workflows = sampleWorkflows(folder);
    const steps = ["a", "b"].map((name, at) => ({
      name,
      type: "count",
      timeout: 600,
      needs: at === 0 ? [] : ["a"],
      config: { file: name },
    }));
    const bad = { name: "bad", type: "fail", needs: ["b"], config: { how: "code" } };
    const failed = await workflows.run(sourceOf([...steps, bad], { timeout: 600 }), {
      onEvent: ({ type }) => {
        if (type === "step-completed") vi.setSystemTime(new Date(day));
      },
    });
    expect(failed).toMatchObject({ status: "error", error: { code: "TOOL_FAILED" } });
    vi.useRealTimers();
    const resumed = await workflows.resume(failed.run);
    expect(resumed).toMatchObject({ status: "error", error: { code: "TOOL_FAILED" } });
    expect(resumed.ms).toBeLessThan(600_000);
    expect([countOf(folder, "a"), countOf(folder, "b")]).toEqual([1, 1]);
    expect(await workflows.list()).toMatchObject([{ run: failed.run, status: "error" }]);
  });
});

describe("files of a run", () => {
  it.each<[file: string, from: string, to: string]>([
    ["journal.jsonl", '"value":"text"', '"value":"t\xFFxt"'],
    ["journal.jsonl", '"step":"a"', '"step":7'],
    ["journal.jsonl", '"step":"a"', '"no":"a"'],
    ["journal.jsonl", '"ms":', '"ms":"x","no":'],
    ["journal.jsonl", '"at":', '"at":1,"no":'],
    ["journal.jsonl", '"status":"success"', '"status":"fine"'],
    ["journal.jsonl", '"type":"step-started"', '"type":"step-begun"'],
    ["run.json", '"startedAt":', '"startedAt":1,"no":'],
    ["run.json", '"session":', '"no":'],
  ])(
    "with a spoiled part are said to be damaged, and stay as they are: %s, %s → %s",
    async (file, from, to) => {
      const workflows = sampleWorkflows(folder);
      const { run } = await workflows.run(
        sourceOf([{ name: "a", type: "count", config: { file: "a", value: "text" } }]),
      );
      const name = path.join(folder, "runs", run, file);
      const spoiled = readFileSync(name, "latin1").replace(from, to);
      expect(spoiled).toContain(to);
      writeFileSync(name, spoiled, "latin1");
      expect(await workflows.list()).toMatchObject([{ run, status: "unreadable" }]);
      for (const ask of [() => workflows.show(run), () => workflows.resume(run)])
        await expect(ask()).rejects.toMatchObject({ code: "WORKFLOW_RUN_UNREADABLE" });
      expect(readFileSync(name, "latin1")).toBe(spoiled);
    },
  );

  it.each([
    ["run.json", /^What run [\w-]+ began with can't be read/],
    ["journal.jsonl", /^Line 1 of the run's journal .* is damaged/],
  ])("that are damaged are named, and nothing is repeated: %s", async (file, message) => {
    const workflows = sampleWorkflows(folder);
    const { run } = await workflows.run(sourceOf([{ name: "a", type: "count", config: { file: "a" } }]));
    const [damaged = ""] = globSync(`**/${run}/${file}`, { cwd: folder });
    writeFileSync(path.join(folder, damaged), '{"damaged\n');
    expect(await workflows.list()).toMatchObject([{ run, status: "unreadable" }]);
    const refused = { code: "WORKFLOW_RUN_UNREADABLE", message: expect.stringMatching(message) };
    await expect(workflows.show(run)).rejects.toMatchObject(refused);
    await expect(workflows.resume(run)).rejects.toMatchObject(refused);
    expect(countOf(folder, "a")).toBe(1);
  });
});
