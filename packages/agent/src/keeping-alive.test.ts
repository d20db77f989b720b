import { spawnSync } from "node:child_process";
import path from "node:path";
import { expect, it } from "vitest";

const index = path.join(import.meta.dirname, "index.ts");
/** Stages whose end nothing in the process waits for, as that of a guest that is still starting. */
const PROGRAM = `
import { createPipeline } from ${JSON.stringify(index)};
const agent = createPipeline(async () => ({
  catalog: async () => ({ specificationVersion: "v1", list: async () => ({ servers: [], problems: [], version: "" }) }),
  dispose: () => new Promise((resolve) => setTimeout(resolve, 100).unref()),
}));
await agent.discoverTools();
await agent.dispose();
console.log("disposed");`;

it("lets no process end while its agent is being disposed", () => {
  const args = ["--conditions=@cem/source", "--input-type=module", "--eval", PROGRAM];
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: "utf8" });
  expect({ stdout, stderr, status }).toEqual({ stdout: "disposed\n", stderr: "", status: 0 });
});
