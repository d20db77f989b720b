// A process that begins or goes on with a run of the ten steps, to be killed.
import path from "node:path";
import { createWorkflows } from "../src/index.ts";
import { createPipeline } from "@cem/agent";
import type { JsonObject } from "@cem/core";
import { countKind, TEN_STEPS } from "./sample-workflows.ts";

const [folder = "", run = "", repeat = "", done = "{}"] = process.argv.slice(2);
const agent = createPipeline(() => Promise.reject(new Error("These workflows call no tools.")));
const workflows = createWorkflows({
  agent,
  runsDir: path.join(folder, "runs"),
  stepKinds: [countKind(folder, 4)],
});
const list = (text: string): string[] => text.split(",").filter((name) => name !== "");
const onEvent = ({ type }: { type: string }): void => {
  if (type === "run-started") process.stdout.write("started\n");
};
const result =
  run === ""
    ? await workflows.run({ value: TEN_STEPS, origin: "ten" }, { onEvent })
    : await workflows.resume(run, { onEvent, repeat: list(repeat), done: JSON.parse(done) as JsonObject });
process.stdout.write(`${JSON.stringify(result)}\n`);
