// Measures a workflow against bare calls, in one process: `npm run bench:workflows`.
import { rmSync } from "node:fs";
import path from "node:path";
import type { JsonObject, WorkflowStepKind } from "@cem/core";
import { createWorkflows } from "@cem/workflows";
import { createAgent } from "../src/index.ts";
import { temporaryFolder } from "../../../scripts/temporary-folder.ts";

const CALLS = 300;
const STEPS = 1_000;
const ITEMS = 10_000;
const root = path.resolve(import.meta.dirname, "../../..");
const folder = temporaryFolder("cem-bench");
const [workspaceDir, runsDir] = [path.join(folder, "workspace"), path.join(folder, "runs")];
const folders = { serversDir: path.join(root, "servers"), skillsDir: path.join(root, "skills") };
const agent = createAgent({
  configFile: false,
  sessions: false,
  config: { execution: { workspaceDir, ...folders } },
});

/** Does nothing, or fails at its last item the first time. */
let failsAt: number | undefined;
const nothing: WorkflowStepKind = {
  specificationVersion: "v1",
  name: "nothing",
  configSchema: { type: "object" },
  async run({ index = 0 }) {
    if (index === failsAt) throw new Error("told to fail");
    return index;
  },
};
const workflows = createWorkflows({ agent, runsDir, stepKinds: [nothing] });
const CODE =
  'import { add } from "./servers/calculator/index.ts";\nexport default await add({"a":1,"b":2});\n';

async function timed<Value>(work: () => Promise<Value>): Promise<{ ms: number; value: Value }> {
  const started = performance.now();
  const value = await work();
  return { ms: performance.now() - started, value };
}

const row = (name: string, text: string): void => void process.stdout.write(`${name.padEnd(44)} ${text}\n`);
const memory = (): number => {
  globalThis.gc?.();
  return Math.round(process.memoryUsage().rss / 1024 / 1024);
};

try {
  const session = "bench";
  const bare = (): Promise<unknown> => agent.executeCode(CODE, { session, typeCheck: "off" });
  const call = (name: string, needs: string[]): JsonObject => ({
    name,
    type: "tool_call",
    needs,
    config: { server: "calculator", tool: "add", arguments: { a: 1, b: 2 } },
  });
  const chain = (length: number): JsonObject[] =>
    Array.from({ length }, (_, at) => call(`s${at}`, at === 0 ? [] : [`s${at - 1}`]));
  const source = (steps: JsonObject[]) => ({ value: { name: "bench", steps }, origin: "bench" });
  const run = (steps: JsonObject[]) => workflows.run(source(steps), { session });
  for (let at = 0; at < 20; at += 1) await bare();
  await run(chain(20));

  const calls = await timed(async () => {
    for (let at = 0; at < CALLS; at += 1) await bare();
  });
  const steps = await timed(() => run(chain(CALLS)));
  row("a bare call", `${(calls.ms / CALLS).toFixed(2)} ms`);
  row(
    "a step that makes it",
    `${(steps.ms / CALLS).toFixed(2)} ms, ${(steps.ms / calls.ms).toFixed(2)} times the bare call`,
  );

  const empty = (name: string, needs: string[]): JsonObject => ({ name, type: "nothing", needs, config: {} });
  const many = Array.from({ length: STEPS }, (_, at) => empty(`s${at}`, at === 0 ? [] : [`s${at - 1}`]));
  const thousand = await timed(() => run(many));
  row(
    `${STEPS} steps in a row that do nothing`,
    `${thousand.ms.toFixed(0)} ms, ${(thousand.ms / STEPS).toFixed(2)} ms each`,
  );
  const loop = (items: number): JsonObject[] => [
    {
      name: "loop",
      type: "loop",
      config: {
        items: "variables.items",
        parallel: 16,
        result: "${{ steps.body }}",
        steps: [{ name: "body", type: "nothing", idempotent: true, config: { index: "${{ index }}" } }],
      },
      timeout: items,
    },
  ];
  const items = Array.from({ length: ITEMS }, (_, at) => at);
  const looped = { name: "bench", variables: { items: { type: "array" } }, outputs: {}, steps: loop(ITEMS) };
  const before = memory();
  failsAt = ITEMS - 1;
  const first = await timed(() =>
    workflows.run({ value: looped, origin: "bench" }, { variables: { items }, session }),
  );
  row(`a loop over ${ITEMS} items`, `${first.ms.toFixed(0)} ms, memory ${before} to ${memory()} MiB`);
  failsAt = undefined;
  const resumed = await timed(() => workflows.resume(first.value.run));
  row(
    `a resume of its ${ITEMS} outcomes (${resumed.value.status})`,
    `${resumed.ms.toFixed(0)} ms, ${(resumed.ms / first.ms).toFixed(2)} times the run, memory ${memory()} MiB`,
  );
} finally {
  await agent.dispose();
  rmSync(folder, { recursive: true, force: true });
}
