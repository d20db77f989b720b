// Run by `npm test` in an empty folder where only the packed package is installed.
import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { createWorkflows } from "@cem/workflows";

const double = {
  specificationVersion: "v1",
  name: "double",
  configSchema: { type: "object" },
  run: async ({ n }) => n * 2,
};
const workflows = createWorkflows({ agent: {}, runsDir: mkdtempSync("runs-"), stepKinds: [double] });
const step = (name, n) => ({ name, type: "double", config: { n } });
const value = { name: "w", steps: [step("a", 3), step("b", "${{ steps.a + 1 }}")] };
const { status, outputs } = await workflows.run({ value, origin: "w" });
assert.deepEqual([status, outputs], ["success", { a: 6, b: 14 }]);
