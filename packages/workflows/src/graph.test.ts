import { expect, it } from "vitest";
import { sampleWorkflows, sourceOf } from "../test/sample-workflows.ts";
import { drawWorkflow } from "./graph.ts";

it("draws a step after all that it waits for: one that fails to it or past it, and one whose error it reads", async () => {
  const config = { file: "x" };
  const { workflow } = await sampleWorkflows("").load(
    sourceOf([
      { name: "told", type: "count", config: { file: "${{ errors.?send.?code.orValue('none') }}" } },
      { name: "send", type: "count", on_error: "rescue", config },
      { name: "between", type: "count", config },
      { name: "rescue", type: "count", config },
    ]),
  );
  expect(drawWorkflow(workflow).map(({ group, text, after }) => [group, text, after])).toEqual([
    [1, "send", []],
    [2, "told", ["send"]],
    [2, "between", ["send"]],
    [2, "rescue", ["send"]],
  ]);
});
