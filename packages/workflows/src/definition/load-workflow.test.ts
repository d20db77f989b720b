/* oxlint-disable unicorn/no-thenable -- `then` is a list of steps in the form of workflows */
import { describe, expect, it } from "vitest";
import type { JsonObject } from "@cem/core";
import { countKind } from "../../test/sample-workflows.ts";
import { loadWorkflow } from "./load-workflow.ts";
import type { FindWorkflow, LoadedWorkflow } from "./load-workflow.ts";

const kinds = new Map([["count", countKind(".")]]);
const none: FindWorkflow = () => Promise.reject(new Error("none"));
const load = (text: string, find = none): Promise<LoadedWorkflow> =>
  loadWorkflow({ text, origin: "w.yaml" }, kinds, find);

async function problemsOf(text: string): Promise<string[]> {
  try {
    await load(text);
    return [];
  } catch (error) {
    return (error as Error).message.split("\n");
  }
}

const STEP = "{ name: a, type: count, config: { file: a } }";

describe("loadWorkflow", () => {
  it("reads the form of the original, in YAML and in JSON", async () => {
    const written = {
      name: "extract",
      description: "Reads and sums",
      version: "1.0",
      steps: [
        {
          name: "read",
          type: "code_execution",
          config: { code: "1" },
          on_error: "skip",
          retry: { attempts: 2 },
        },
        {
          name: "call",
          type: "tool_call",
          config: { server: "a", tool: "b" },
          guardrails: { strict_mode: true },
        },
      ],
      variables: {
        output_dir: "./workspace",
        count: { type: "integer" },
        like: { name: "x" },
        typed: { type: "object", default: { type: "invoice" } },
      },
      guardrails: { enabled: true },
    };
    const { workflow } = await load(JSON.stringify(written));
    expect(workflow).toMatchObject({
      name: "extract",
      steps: [{ onError: "skip", retry: { attempts: 2 } }, { guardrails: { strict_mode: true } }],
      variables: {
        output_dir: { default: "./workspace" },
        count: { schema: { type: "integer" } },
        like: { default: { name: "x" } },
        typed: { default: { type: "invoice" } },
      },
    });
  });

  it.each([
    [
      "name: w\nsteps:\n  - name: a\n    type: coun\n    config: {}",
      /^w\.yaml:4 {2}steps\[0\]\.type .*Did you mean count\?/,
    ],
    ["name: w\nsteps: []", /^w\.yaml:2 {2}steps /],
    ["name: w\nstep: []\nsteps: [" + STEP + "]", /^w\.yaml:2 {2}step {2}is not known here/],
    [`name: w\nsteps:\n  - ${STEP}\n  - ${STEP}`, /^w\.yaml:4 {2}steps\[1\]\.name {2}is "a", as another/],
    [
      `name: w\nsteps:\n  - { name: a, type: count, needs: [b], config: { file: a } }`,
      /^w\.yaml:3 {2}steps\[0\]\.needs\[0\] {2}is "b", which is not a step/,
    ],
    [
      `name: w\nsteps:\n  - { name: a, type: count, on_error: b, config: { file: a } }`,
      /^w\.yaml:3 .*on_error {2}is "b"/,
    ],
    [
      `name: w\nsteps:\n  - ${STEP}\n  - { name: b, type: count, on_error: a, config: { file: a } }`,
      /^w\.yaml:4 .*only later steps/,
    ],
    [
      `name: w\nsteps:\n  - { name: a, type: count, config: { file: "\${{ 1 + }}" } }`,
      /^w\.yaml:3 .*is not an expression/,
    ],
    [
      `name: w\nsteps:\n  - { name: a, type: count, config: { file: "\${{ steps.x }}" } }`,
      /^w\.yaml:3 .*refers to "x"/,
    ],
    [
      `name: w\nvariables: { x: 1 }\nsteps:\n  - { name: a, type: count, config: { file: "\${{ x }}" } }`,
      /Did you mean variables\.x\?/,
    ],
    [
      `name: w\nvariables: { city: Oslo }\nsteps:\n  - { name: a, type: count, config: { file: "\${{ variables.cit }}" } }`,
      /^w\.yaml:4 .*variables\.cit, which is not declared\. Did you mean variables\.city\?/,
    ],
    [
      `name: w\nsteps:\n  - { name: a, type: count, config: { file: "\${{ errors.x.code }}" } }`,
      /^w\.yaml:3 .*refers to "x", which is not a step/,
    ],
    [
      "name: w\nsteps:\n  - name: a\n    type: count\n     config: { file: a }",
      /^w\.yaml:5 {2}is indented wrongly/,
    ],
    [
      "name: w\nsteps:\n  - name: a\n    description: |\n      some\n        text\n   type: count",
      /^w\.yaml:7 {2}is indented wrongly/,
    ],
    ["name: w\nsteps:\n  - name: a\n   type: count", /^w\.yaml:4 {2}is indented wrongly/],
    [`name: w\nsteps:\n  - { name: a, type: count, config: { fiel: a } }`, /^w\.yaml:3 .*file/],
    ["name: w\nsteps:\n\t- a", /^w\.yaml:3 /],
    ["name: w\nsteps: [*nowhere]", /^w\.yaml/],
    [
      `name: w\nvariables:\n  n: { type: interger, default: 1 }\nsteps: [${STEP}]`,
      /^w\.yaml:3 {2}variables\.n\.type {2}is not one of string, number, integer, .*\{ type: object, default: … \}\.$/,
    ],
    [
      `name: w\nvariables: { n: { type: [string, "null"] } }\nsteps: [${STEP}]`,
      /variables\.n\.type {2}is not one of/,
    ],
    [
      `name: w\nvariables:\n  n:\n    type: integer\n    default: many\nsteps: [${STEP}]`,
      /^w\.yaml:5 {2}variables\.n\.default {2}is not as its schema wants it: it must be an integer, not a string/,
    ],
    ["- 1", /^w\.yaml/],
    ["", /^w\.yaml/],
  ])("tells the line of what is wrong in %j", async (text, expected) => {
    expect((await problemsOf(text))[0]).toMatch(expected);
  });

  it("refuses circles of steps and of workflows before anything runs", async () => {
    const [circle] = await problemsOf(
      `name: w\nsteps:\n  - { name: a, type: count, needs: [b], config: { file: a } }\n  - { name: b, type: count, config: { file: "\${{ string(steps.a) }}" } }`,
    );
    expect(circle).toMatch(/waits for itself: a ← b ← a/);
    const part = (name: string, other: string): JsonObject => ({
      name,
      steps: [{ name: "go", type: "workflow", config: { workflow: other } }],
    });
    const find: FindWorkflow = async (name) => ({
      value: part(name, name === "b" ? "c" : "b"),
      origin: name,
    });
    await expect(load(JSON.stringify(part("a", "b")), find)).rejects.toThrow(/is part of itself: b → c → b/);
    await expect(load(JSON.stringify(part("a", "a")), find)).rejects.toThrow(/is part of itself/);
  });

  it("refuses files that are too large, too deep, or full of aliases, at once", async () => {
    expect((await problemsOf(`name: w\nsteps: # ${"x".repeat(10 * 1024 * 1024)}`))[0]).toMatch(
      /1048576 are the most/,
    );
    expect((await problemsOf(`name: w\nsteps: ${"[".repeat(100_000)}`)).length).toBeGreaterThan(0);
    const bomb = Array.from(
      { length: 20 },
      (_, at) => `b${at}: &b${at} [${at === 0 ? "1" : `*b${at - 1},*b${at - 1},*b${at - 1}`}]`,
    );
    expect((await problemsOf(`name: w\n${bomb.join("\n")}\nsteps: [*b19]`))[0]).toMatch(/alias|not known/);
    const nested = (depth: number): JsonObject =>
      depth === 0
        ? { name: "x", type: "count", config: { file: "x" } }
        : { name: `n${depth}`, type: "condition", config: { condition: true, then: [nested(depth - 1)] } };
    expect((await problemsOf(JSON.stringify({ name: "w", steps: [nested(18)] })))[0]).toMatch(
      /deeper than 16/,
    );
  });
});
