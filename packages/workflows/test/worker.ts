// A process that begins or goes on with a run of the ten steps, to be killed.
import path from "node:path";
import { createWorkflows } from "../src/index.ts";
import { createPipeline } from "@cem/agent";
import { toErrorInfo } from "@cem/core";
import type { JsonObject } from "@cem/core";
import { countKind, TEN_STEPS } from "./sample-workflows.ts";

/** `gate`: a file that each step waits for, once it has begun. */
const [folder = "", run = "", repeat = "", done = "{}", gate] = process.argv.slice(2);
const agent = createPipeline(() => Promise.reject(new Error("These workflows call no tools.")));
const workflows = createWorkflows({
  agent,
  runsDir: path.join(folder, "runs"),
  stepKinds: [countKind(folder, { ms: 4, gate })],
});
const list = (text: string): string[] => text.split(",").filter((name) => name !== "");
const onEvent = ({ type }: { type: string }): void => {
  if (type === "run-started") process.stdout.write("started\n");
};
const result = await (
  run === ""
    ? workflows.run({ value: TEN_STEPS, origin: "ten" }, { onEvent })
    : workflows.resume(run, { onEvent, repeat: list(repeat), done: JSON.parse(done) as JsonObject })
).catch((error: unknown) => ({ status: "refused", error: toErrorInfo(error) }));
process.stdout.write(`${JSON.stringify(result)}\n`);
