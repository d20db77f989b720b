import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CemError } from "@cem/core";
import type { JsonObject, Redactor } from "@cem/core";
import { hintFor } from "@cem/core/errors";
import { countOf, sampleWorkflows, sourceOf, TEN_FILES, TEN_STEPS } from "../test/sample-workflows.ts";
import type { RunWorkflowOptions, WorkflowEvent, WorkflowResult } from "./index.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "cem-workflows-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const run = (steps: JsonObject[], more?: JsonObject, options?: RunWorkflowOptions): Promise<WorkflowResult> =>
  sampleWorkflows(folder).run(sourceOf(steps, more), options);
const count = (name: string, more: JsonObject = {}): JsonObject => ({
  name,
  type: "count",
  config: { file: name },
  ...more,
});
const fail = (how: string, more: JsonObject = {}): JsonObject => ({
  name: "bad",
  type: "fail",
  config: { how },
  ...more,
});
const after = { needs: ["bad"] };

describe("run", () => {
  it("does what does not depend on each other at once, and the rest in its order", async () => {
    const events: WorkflowEvent[] = [];
    const result = await sampleWorkflows(folder).run(
      { value: TEN_STEPS, origin: "ten" },
      { onEvent: (event) => events.push(event) },
    );
    expect(result).toMatchObject({ status: "success", error: null });
    expect(TEN_FILES.map((file) => countOf(folder, file))).toEqual(TEN_FILES.map(() => 1));
    const order = events.flatMap((event) => (event.type === "step-completed" ? [event.step] : []));
    for (const [first, second] of [
      ["a", "d"],
      ["d", "each[0].e"],
      ["each", "choose"],
      ["g", "h"],
    ])
      expect(order.indexOf(first ?? "")).toBeLessThan(order.indexOf(second ?? ""));
  });

  /** By `on_error`: the status of the run, how often a dependent step runs, and how often an independent one. */
  const AFTER: Record<string, [status: string, dependent: number, other: number]> = {
    stop: ["error", 0, 0],
    skip: ["success", 0, 1],
    continue: ["success", 1, 1],
    retry: ["error", 0, 0],
    rescue: ["success", 0, 1],
  };
  const WAYS: [how: string, more: JsonObject, code: string][] = [
    ["code", {}, "TOOL_FAILED"],
    ["throw", {}, "UNEXPECTED"],
    ["timeout", {}, "TOOL_TIMEOUT"],
    ["hang", { timeout: 0.02 }, "WORKFLOW_STEP_TIMED_OUT"],
    ["abort", { timeout: 0.02 }, "WORKFLOW_STEP_TIMED_OUT"],
    ["${{ {}.missing }}", {}, "EXPRESSION_FAILED"],
  ];
  const cases = Object.keys(AFTER).flatMap((onError) => WAYS.map((way) => [onError, ...way] as const));
  it.each(cases)("on_error %s after %s", async (onError, how, more, code) => {
    const result = await run(
      [
        fail(how, { on_error: onError, retry: { attempts: 2, delay: 0 }, ...more }),
        count("dependent", after),
        { ...count("other"), needs: [] },
        count("rescue", { config: { file: "rescue", value: "${{ errors.?bad.?code.orValue('none') }}" } }),
      ],
      { max_parallel: 1 },
    );
    const [status, dependent, other] = AFTER[onError] ?? [];
    // The run goes on at the step that is named: what stands between is left out.
    const between = onError === "rescue" ? 0 : other;
    expect([result.status, countOf(folder, "dependent"), countOf(folder, "other")]).toEqual([
      status,
      dependent,
      between,
    ]);
    expect(status === "error" ? result.error?.code : result.outputs["rescue"]).toBe(code);
  });

  it("goes on at a later step, and has what stands between wait, but for what the first one needs", async () => {
    const slow = fail("hang", { timeout: 0.2, on_error: "rescue", needs: ["before"] });
    const result = await run([slow, count("other"), count("before"), count("rescue")]);
    expect(result).toMatchObject({ status: "success", outputs: { other: null } });
    expect(["other", "before", "rescue"].map((name) => countOf(folder, name))).toEqual([0, 1, 1]);
  });

  it("lets a step that reads the error of another wait for it", async () => {
    const result = await run([
      count("told", { config: { file: "told", value: "${{ errors.?bad.?code.orValue('none') }}" } }),
      fail("code", { on_error: "skip" }),
    ]);
    expect(result).toMatchObject({ status: "success", outputs: { told: "TOOL_FAILED" } });
  });

  it("tries again as often as it is told, with what it is told", async () => {
    const flaky = { config: { how: "code", times: 2 }, on_error: "retry", retry: { attempts: 3, delay: 0 } };
    expect(await run([fail("code", flaky)])).toMatchObject({
      status: "success",
      outputs: { bad: "worked" },
    });
  });

  it.each([
    "timeout",
    "sent",
    "RESULT_INVALID",
    "RESULT_NOT_JSON",
    "RESULT_TOO_LARGE",
    "RUN_INTERRUPTED",
    "PROTOCOL_ERROR",
  ])("repeats nothing that may have been done (%s), unless it is marked", async (how) => {
    const uncertain = { config: { how, times: 1 }, on_error: "retry", retry: { delay: 0 } };
    const refused = await run([fail("timeout", uncertain)]);
    expect(refused.error?.message).toMatch(/was not tried again, since it may have been executed/);
    expect(await run([fail("timeout", { ...uncertain, idempotent: true })])).toMatchObject({
      status: "success",
    });
  });

  it("tries a loop again without doing again what was done", async () => {
    const loop = {
      name: "loop",
      type: "loop",
      on_error: "retry",
      retry: { attempts: 3, delay: 0 },
      config: {
        items: [1, 2],
        steps: [
          { name: "once", type: "count", config: { file: "once${{ item }}" } },
          { name: "then", type: "fail", needs: ["once"], config: { how: "code", times: 1 } },
        ],
      },
    };
    expect(await run([loop])).toMatchObject({ status: "success" });
    expect([countOf(folder, "once1"), countOf(folder, "once2")]).toEqual([1, 1]);
  });

  it("loops over items and while a condition holds, with a bound", async () => {
    const whileLoop = (most: number): JsonObject => ({
      name: "loop",
      type: "loop",
      config: {
        while: "index < 3",
        max_iterations: most,
        result: "${{ steps.body + index }}",
        steps: [{ name: "body", type: "count", config: { file: "body", value: 10 } }],
      },
    });
    expect(await run([whileLoop(5)])).toMatchObject({ outputs: { loop: [10, 11, 12] } });
    expect((await run([whileLoop(2)])).error?.message).toMatch(/within its 2 iterations/);
  });

  it("runs a workflow within another, and gives outputs by name", async () => {
    const part = {
      name: "part",
      variables: { n: { type: "integer" } },
      outputs: { twice: "${{ variables.n * 2 }}" },
      steps: [count("p")],
    };
    const workflows = sampleWorkflows(folder, { find: async (name) => ({ value: part, origin: name }) });
    const step = (n: number | string): JsonObject => ({
      name: "sub",
      type: "workflow",
      config: { workflow: "part", variables: { n } },
    });
    const more = { outputs: { result: "${{ steps.sub.twice }}" } };
    expect(await workflows.run(sourceOf([step("${{ 20 + 1 }}")], more))).toMatchObject({
      outputs: { result: 42 },
    });
    const wrong = await workflows.run(sourceOf([step("x")], more));
    expect(wrong.error?.code).toBe("WORKFLOW_VARIABLES_INVALID");
  });

  it("ends a workflow within another by its own timeout", async () => {
    const part = { name: "part", timeout: 0.02, steps: [fail("abort")] };
    const workflows = sampleWorkflows(folder, { find: async (name) => ({ value: part, origin: name }) });
    const sub = { name: "sub", type: "workflow", on_error: "continue", config: { workflow: "part" } };
    const told = count("told", { config: { file: "told", value: "${{ errors.sub.code }}" } });
    expect(await workflows.run(sourceOf([sub, told]))).toMatchObject({
      status: "success",
      outputs: { told: "WORKFLOW_STEP_TIMED_OUT" },
    });
  });

  it("ends by its own timeout and by its caller, and goes on afterwards", async () => {
    const workflows = sampleWorkflows(folder);
    const timed = await workflows.run(
      sourceOf([count("a"), fail("abort", { needs: ["a"] })], { timeout: 0.05 }),
    );
    expect(timed).toMatchObject({ status: "timeout", error: { code: "WORKFLOW_TIMED_OUT" } });
    expect(hintFor(timed.error ?? { code: "", details: {} })).toContain(`cem workflow resume ${timed.run}  `);
    expect(await workflows.resume(timed.run, { done: { bad: "seen" } })).toMatchObject({ status: "success" });
    expect(countOf(folder, "a")).toBe(1);
    const controller = new AbortController();
    const cancelled = await workflows.run(sourceOf([count("b"), fail("hang", { needs: ["b"] })]), {
      signal: controller.signal,
      onEvent: (event) => {
        if (event.type === "step-started" && event.step === "bad") controller.abort();
      },
    });
    expect(cancelled).toMatchObject({ status: "cancelled", error: { code: "ABORTED" } });
    const resumed = await workflows.resume(cancelled.run, { done: { bad: "seen" } });
    expect(resumed).toMatchObject({ status: "success", outputs: { bad: "seen" } });
    expect(countOf(folder, "b")).toBe(1);
  });

  it("is cancelled from elsewhere", async () => {
    const workflows = sampleWorkflows(folder);
    let asked: Promise<unknown> | undefined;
    let id = "";
    const result = await workflows.run(sourceOf([fail("hang")]), {
      onEvent: (event) => {
        if (event.type === "run-started") id = event.run;
        if (event.type === "step-started") asked = workflows.cancel(id);
      },
    });
    expect(await asked).toBe("running");
    expect(result.status).toBe("cancelled");
    expect(await workflows.cancel(id)).toBe("cancelled");
  });

  it("keeps tokens, not values, in what it writes", async () => {
    const secret = "ada@example.com";
    const redactor = {
      specificationVersion: "v1",
      guest: "tokens",
      tokenize: <Data>(data: Data): Data =>
        JSON.parse(JSON.stringify(data).replaceAll(secret, "[[EMAIL:1]]")) as Data,
    } as unknown as Redactor;
    const workflows = sampleWorkflows(folder, { redactor });
    const controller = new AbortController();
    const cut = await workflows.run(sourceOf([fail("hang")]), {
      signal: controller.signal,
      onEvent: ({ type }) => type === "step-started" && controller.abort(),
    });
    const told = await workflows.resume(cut.run, { done: { bad: secret } });
    expect(told.outputs).toEqual({ bad: "[[EMAIL:1]]" });
    expect(readFileSync(path.join(folder, "runs", cut.run, "journal.jsonl"), "utf8")).not.toContain(secret);
    const result = await workflows.run(
      sourceOf(
        [
          fail("x", { config: { how: "${{ variables.to }}" } }),
          fail("y", { name: "leak", config: { how: secret } }),
        ],
        {
          variables: { to: { type: "string" } },
        },
      ),
      { variables: { to: secret } },
    );
    expect(result.outputs).toEqual({ bad: "[[EMAIL:1]]", leak: "[[EMAIL:1]]" });
    const runFolder = path.join(folder, "runs", result.run);
    expect(readFileSync(path.join(runFolder, "journal.jsonl"), "utf8")).not.toContain(secret);
    const { variables } = JSON.parse(readFileSync(path.join(runFolder, "run.json"), "utf8")) as {
      variables: unknown;
    };
    expect(variables).toEqual({ to: "[[EMAIL:1]]" });
  });

  it("writes no token whose value is not kept", async () => {
    let fails = true;
    const redactor = {
      specificationVersion: "v1",
      guest: "tokens",
      tokenize: <Data>(data: Data): Data => data,
      persist: async () => {
        const failed = fails;
        fails = false;
        if (failed) throw new CemError("STORE_UNAVAILABLE", "no store");
      },
    } as unknown as Redactor;
    const workflows = sampleWorkflows(folder, { redactor });
    await expect(workflows.run(sourceOf([count("a")]))).rejects.toThrow("no store");
    expect(await workflows.list()).toEqual([]);
    const result = await workflows.run(sourceOf([count("a", { on_error: "continue" })]), {
      onEvent: ({ type }) => void (fails ||= type === "step-started"),
    });
    expect(result).toMatchObject({ status: "interrupted", error: { code: "STORE_UNAVAILABLE" } });
    expect((await workflows.show(result.run)).uncertain).toEqual(["a"]);
  });
});

describe("resume", () => {
  const journalOf = (id: string): string => path.join(folder, "runs", id, "journal.jsonl");

  it("goes on with the definition it began with, after a torn line", async () => {
    const workflows = sampleWorkflows(folder);
    const { run: id } = await workflows.run(sourceOf([count("a"), fail("code", { needs: ["a"] })]));
    appendFileSync(journalOf(id), '{"type":"step-completed","step":"bad","val');
    const resumed = await workflows.resume(id);
    expect(resumed).toMatchObject({ status: "error", error: { code: "TOOL_FAILED" } });
    expect(countOf(folder, "a")).toBe(1);
    for (const line of readFileSync(journalOf(id), "utf8").trimEnd().split("\n")) JSON.parse(line);
  });

  it("takes no other values of variables once a step has a result that came of those of the beginning", async () => {
    const workflows = sampleWorkflows(folder);
    const variables = { variables: { who: { type: "array", items: { type: "string" } } } };
    const loop = {
      name: "loop",
      type: "loop",
      config: {
        items: "variables.who",
        steps: [
          { name: "once", type: "count", config: { file: "${{ item }}" } },
          { name: "then", type: "fail", needs: ["once"], config: { how: "code", times: 1 } },
        ],
      },
    };
    const began = await workflows.run(sourceOf([loop], variables), { variables: { who: ["A", "B"] } });
    await expect(workflows.resume(began.run, { variables: { who: ["B", "A"] } })).rejects.toMatchObject({
      code: "OPTION_INVALID",
      message: expect.stringMatching(
        /another value of who, with which step loop\[0\]\.once was done/u,
      ) as string,
    });
    const same = await workflows.resume(began.run, { variables: { who: ["A", "B"] } });
    expect(same).toMatchObject({ error: { message: expect.stringContaining("loop[1]") as string } });
    expect([countOf(folder, "A"), countOf(folder, "B")]).toEqual([1, 1]);
    const nothingDone = await workflows.run(
      sourceOf([fail("code", { config: { how: "${{ variables.how }}" } })], {
        variables: { how: { type: "string" } },
      }),
      { variables: { how: "code" } },
    );
    const corrected = await workflows.resume(nothingDone.run, { variables: { how: "fine" } });
    expect(corrected).toMatchObject({ status: "success", outputs: { bad: "fine" } });
  });

  it("takes personal values again, also those that were lost, and no others", async () => {
    const values = new Map([["ada@example.com", "[[EMAIL:aaaaaaaaaaaaaaaa]]"]]);
    const redactor = {
      specificationVersion: "v1",
      guest: "values",
      tokenize: <Data>(data: Data): Data => {
        let text = JSON.stringify(data);
        for (const [value, token] of values) text = text.replaceAll(value, token);
        return JSON.parse(text) as Data;
      },
      detokenize: async (given: string) => {
        const [value] = [...values].find(([, token]) => token === given) ?? [];
        if (value === undefined) throw new CemError("TOKEN_UNKNOWN", "lost");
        return value;
      },
    } as unknown as Redactor;
    const workflows = sampleWorkflows(folder, { redactor });
    const source = sourceOf([count("a"), fail("code", { needs: ["a"] })], {
      variables: { to: { type: "string" } },
    });
    const { run: id } = await workflows.run(source, { variables: { to: "ada@example.com" } });
    const resume = (to: string) => workflows.resume(id, { variables: { to } });
    await expect(resume("bob@example.com")).rejects.toMatchObject({ code: "OPTION_INVALID" });
    expect((await resume("ada@example.com")).error?.code).toBe("TOOL_FAILED");
    values.set("ada@example.com", "[[EMAIL:bbbbbbbbbbbbbbbb]]");
    expect((await resume("ada@example.com")).error?.code).toBe("TOOL_FAILED");
    expect(readFileSync(path.join(folder, "runs", id, "run.json"), "utf8")).toContain("bbbbbbbbbbbbbbbb");
  });

  it("refuses a journal that was damaged within, and ids that are none", async () => {
    const workflows = sampleWorkflows(folder);
    const { run: id } = await workflows.run(sourceOf([fail("code")]));
    writeFileSync(journalOf(id), `nonsense\n${readFileSync(journalOf(id), "utf8")}`);
    await expect(workflows.resume(id)).rejects.toThrow(/^Line 1 of /);
    for (const none of ["../..", "nope", ""])
      await expect(workflows.resume(none)).rejects.toMatchObject({ code: "WORKFLOW_RUN_NOT_FOUND" });
  });

  it("asks the user about a step that may have been done", async () => {
    const workflows = sampleWorkflows(folder);
    const { run: id } = await workflows.run(sourceOf([fail("timeout"), count("z", after)]));
    expect((await workflows.show(id)).uncertain).toEqual(["bad"]);
    const unasked = await workflows.resume(id);
    expect(unasked).toMatchObject({ status: "interrupted", error: { code: "WORKFLOW_STEP_UNCERTAIN" } });
    const asked = await workflows.resume(id, {
      onElicit: async ({ message }) => {
        expect(message).toContain("Step bad had begun");
        return { action: "accept", content: { decision: "done" } };
      },
    });
    expect(asked.status).toBe("success");
    expect(countOf(folder, "z")).toBe(1);
  });

  it("names all steps that may have been done, and what to do about them", async () => {
    const workflows = sampleWorkflows(folder);
    const { run: id } = await workflows.run(
      sourceOf([fail("timeout"), { ...fail("timeout"), name: "worse" }]),
    );
    expect((await workflows.show(id)).uncertain).toEqual(["bad", "worse"]);
    const { error } = await workflows.resume(id);
    expect(error).toMatchObject({ details: { run: id, steps: ["bad", "worse"] } });
    expect(error?.message).toContain("Steps bad, worse had begun");
    expect(error && hintFor(error)).toContain(`cem workflow resume ${id} --done bad --done worse`);
    const { status } = await workflows.resume(id, { done: { bad: null, worse: null } });
    expect(status).toBe("success");
  });

  it("is not told to be retried where it was", async () => {
    const slow = (more: JsonObject) => run([fail("hang", { timeout: 0.02, ...more })]);
    const hints = [await slow({}), await slow({ on_error: "retry" })].map(
      ({ error }) => error && hintFor(error),
    );
    expect(hints).toEqual([expect.stringContaining("on_error: retry"), "Raise the step's timeout."]);
  });

  it("is done by one of two at once", async () => {
    const workflows = sampleWorkflows(folder);
    const { run: id } = await workflows.run(sourceOf([fail("timeout"), count("z", after)]));
    const both = await Promise.allSettled([1, 2].map(() => workflows.resume(id, { done: { bad: null } })));
    const failed = both.flatMap((one) => (one.status === "rejected" ? [one.reason as { code: string }] : []));
    // The second may come when the first has ended: there is nothing to decide then.
    for (const { code } of failed) expect(["WORKFLOW_RUN_BUSY", "OPTION_INVALID"]).toContain(code);
    expect(failed.length).toBeLessThan(2);
    expect(countOf(folder, "z")).toBe(1);
  });

  it("counts its time without the clock on the wall", async () => {
    const workflows = sampleWorkflows(folder);
    const { run: id } = await workflows.run(sourceOf([fail("code")], { timeout: 1_000 }));
    const changed = readFileSync(journalOf(id), "utf8").replaceAll(/"at":"\d{4}/gu, '"at":"1970');
    writeFileSync(journalOf(id), changed);
    const resumed = await workflows.resume(id);
    expect(resumed.error?.code).toBe("TOOL_FAILED");
    expect(resumed.ms).toBeLessThan(1_000_000);
  });

  it("keeps runs for nobody else, and begins none whose owner is gone", async () => {
    const { run: id } = await run([count("a")]);
    const modes = ["runs", `runs/${id}`].map((name) => statSync(path.join(folder, name)).mode & 0o777);
    expect(modes).toEqual([0o700, 0o700]);
    const ownerDir = path.join(folder, "gone");
    const workflows = sampleWorkflows(folder, { runsDir: path.join(ownerDir, "workflows"), ownerDir });
    await expect(workflows.run(sourceOf([count("b")]))).rejects.toMatchObject({
      code: "WORKFLOW_RUN_UNWRITABLE",
    });
    expect(existsSync(ownerDir)).toBe(false);
  });
});
