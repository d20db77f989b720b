// Run by `npm test` in an empty folder where only the packed package is installed.
import assert from "node:assert/strict";
import { CemError, createPipeline } from "@cem/agent";

let disposed = false;
const agent = createPipeline(async () => ({
  catalog: { specificationVersion: "v1", list: async () => ({ servers: [], problems: [], version: "1" }) },
  selector: {
    specificationVersion: "v1",
    select: async () => ({ selected: [], nearest: [] }),
    search: async () => [],
  },
  generator: {
    specificationVersion: "v1",
    generate: async () => ({ status: "refused", steps: [{ step: "x", reason: "no-tool", hint: "No." }] }),
  },
  guard: { specificationVersion: "v1", review: async () => ({ allowed: true, findings: [] }) },
  sandbox: async () => Promise.reject(new Error("not needed")),
  dispose: async () => void (disposed = true),
}));
const result = await agent.executeTask("x");
assert.equal(result.error.code, "NO_TOOL");
await agent.dispose();
assert.ok(disposed);
await assert.rejects(
  agent.executeTask("x"),
  (error) => CemError.isInstance(error) && error.code === "AGENT_DISPOSED",
);
