import { existsSync, readdirSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { runCem, SAMPLES, startCem, temporaryFolder } from "./testing/run-cem.ts";

/** Each test runs several commands. */
vi.setConfig({ testTimeout: 120_000 });

const cwd = temporaryFolder();
const cem = (...args: string[]) => runCem(["workflow", ...args], { cwd });
const json = async (...args: string[]): Promise<Record<string, unknown>> =>
  JSON.parse((await cem(...args, "--json")).stdout) as Record<string, unknown>;
const ORDER = `name: order
variables:
  a: { type: number }
  b: 2
steps:
  - name: sum
    type: tool_call
    config: { server: calculator, tool: add, arguments: { a: "\${{ variables.a }}", b: "\${{ variables.b }}" } }
  - name: verdict
    type: condition
    config:
      condition: steps.sum > 10
      then: [{ name: note, type: code_execution, config: { code: "export default 'many';" } }]
outputs: { sum: "\${{ steps.sum }}", verdict: "\${{ steps.verdict }}" }
`;
/** Its first step never ends by itself. */
const STUCK = `name: NAME
steps:
  - { name: wait, type: code_execution, timeout: TIMEOUT, config: { code: "await new Promise((go) => setTimeout(go, 600_000));" } }
  - { name: after, type: code_execution, config: { inputs: { w: "\${{ steps.wait }}" }, code: "export default inputs.w;" } }
`;

beforeAll(() => {
  writeFileSync(path.join(cwd, "order.yaml"), ORDER);
  writeFileSync(path.join(cwd, "wrong.yaml"), ORDER.replace("tool_call", "tool_cal"));
  const divide = "{ server: calculator, tool: divide, arguments: { a: 1, b: 0 } }";
  writeFileSync(
    path.join(cwd, "zero.yaml"),
    `name: zero\nsteps: [{ name: a, type: tool_call, config: ${divide} }]\n`,
  );
  writeFileSync(path.join(cwd, "torn.yaml"), "name: torn\nsteps:\n  - { name: a\n");
  writeFileSync(path.join(cwd, "stuck.yaml"), STUCK.replace("NAME", "stuck").replace("TIMEOUT", "600"));
  writeFileSync(path.join(cwd, "late.yaml"), STUCK.replace("NAME", "late").replace("TIMEOUT", "0.5"));
});

describe("cem workflow", () => {
  it("checks and draws a file, without leaving anything", async () => {
    // Whatever reads the tools caches what it read.
    const files = (): string[] => readdirSync(cwd).filter((name) => name !== ".tool_cache.json");
    const before = files();
    expect((await cem()).stdout).toContain("There are no workflows and no runs here");
    expect(await cem("validate", "order.yaml", ...SAMPLES)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/valid +order 1\.0/u) as string,
    });
    const graph = await cem("graph", "order.yaml");
    expect(graph.stdout).toMatch(/1 +sum +calculator\.add\n +2 +verdict +if steps\.sum > 10 after sum/u);
    expect(files()).toEqual(before);
  });

  it.each([
    [["validate", "wrong.yaml"], 1, /wrong\.yaml:7 .*Did you mean tool_call\?/u],
    [["validate", "torn.yaml"], 1, /torn\.yaml:3 .*bracket/u],
    [["run", "none.yaml"], 2, /none\.yaml can't be read: the file does not exist[^]*cem workflow list/u],
    [["run", "order.yaml"], 1, /"a" is not given\. It has: a, b\.[^]*--var <name>=<value>/u],
    [["show", "none"], 1, /no run "none"[^]*cem workflow list/u],
    [["resume"], 2, /cem workflow resume needs a run/u],
    [["run", "order.yaml", "--var", "a"], 2, /city=Oslo/u],
    [["paint"], 2, /paint/u],
  ])("says what is wrong with %j", async (args, code, message) => {
    const ended = await cem(...args);
    expect(ended.stderr).toMatch(message);
    expect(ended.code).toBe(code);
  });

  it("runs a file, and lists, shows and takes up again what was run", async () => {
    const run = await cem("run", "order.yaml", "--var", "a=40", ...SAMPLES);
    expect(run.code).toBe(0);
    expect(run.stdout).toMatch(/sum +42/u);
    const [id = ""] = readdirSync(path.join(cwd, ".cem/workflows"));
    expect(statSync(path.join(cwd, ".cem/workflows")).mode & 0o077).toBe(0);
    expect((await cem("list")).stdout).toMatch(new RegExp(`${id} +success`, "u"));
    const shown = await cem("show", id);
    expect(shown.stdout).toMatch(/status +success[^]*sum +success[^]*verdict +success[^]*sum +42/u);
    expect(await json("resume", id)).toMatchObject({ status: "success", outputs: { sum: 42 } });
    expect((await cem("cancel", id)).stdout).toContain("success");
    const undecided = await cem("resume", id, "--done", "sum=1");
    expect(undecided.stderr).toMatch(/Step sum of run .* is not one that may have been executed/u);
    expect(undecided.code).not.toBe(0);
  });

  it("says why a tool failed, and not where in the program that calls it", async () => {
    const { error } = await json("run", "zero.yaml", ...SAMPLES);
    expect(error).toEqual({
      code: "TOOL_FAILED",
      message: "Step a: calculator.divide: Can't divide 1 by zero.",
      details: { server: "calculator", tool: "divide", step: "a" },
    });
  });

  it("asks about a step that may have been executed, and takes --done and --repeat for an answer", async () => {
    const failed = await json("run", "late.yaml");
    const id = String(failed["run"]);
    expect(failed).toMatchObject({ status: "error", error: { code: "WORKFLOW_STEP_TIMED_OUT" } });
    expect((await cem("show", id)).stdout).toMatch(/uncertain +may have been executed: wait/u);
    const asked = await cem("resume", id);
    expect(asked.code).toBe(1);
    expect(asked.stderr).toMatch(
      new RegExp(`interrupted +Step wait had begun[^]*resume ${id} --done wait[^]*--repeat wait`, "u"),
    );
    expect(await json("resume", id, "--repeat", "wait")).toMatchObject({
      status: "error",
      error: { code: "WORKFLOW_STEP_TIMED_OUT" },
    });
    expect(await json("resume", id, "--done", "wait=7")).toMatchObject({
      status: "success",
      outputs: { after: 7 },
    });
  });

  it("ends a run by Ctrl+C", async () => {
    const running = startCem(["workflow", "run", "stuck.yaml"], { cwd });
    const runs = path.join(cwd, ".cem/workflows");
    let id = "";
    await vi.waitFor(() => expect((id = stuckIn(runs))).not.toBe(""), { timeout: 60_000 });
    running.signal("SIGINT");
    const ended = await running.ended;
    expect(ended.code).not.toBe(0);
    expect((await cem("show", id)).stdout).toMatch(/status +cancelled/u);
    expect((await cem("cancel", id)).stdout).toContain("cancelled");
  });
});

/** The run of `stuck` whose first step has begun. */
function stuckIn(runs: string): string {
  const found = (existsSync(runs) ? readdirSync(runs) : []).find((name) => name.startsWith("stuck-")) ?? "";
  const journal = path.join(runs, found, "journal.jsonl");
  return found !== "" && existsSync(journal) && statSync(journal).size > 150 ? found : "";
}
