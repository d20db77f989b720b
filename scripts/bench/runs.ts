import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Sandbox } from "code-execution-mcp";
import { interleaved, rounded, throughput } from "./measure.ts";
import type { Table } from "./table.ts";
import { echo, openSandbox, withFolder, writeSampleServer } from "./workspace.ts";

const STANDBY = 3;
const CALLS = 100;
const ONE_CALL = 'import { add } from "./servers/math/index.ts";\nexport default await add({ a: 5, b: 3 });';
const BRIDGE = 'import { callTool } from "cem:client";\n';
const NO_CALLS = `${BRIDGE}export default typeof callTool;`;
const IN_SEQUENCE = `${BRIDGE}for (let i = 0; i < ${CALLS}; i++) await callTool("math", "echo", { i });`;
const IN_PARALLEL = `${BRIDGE}await Promise.all(Array.from({ length: ${CALLS} }, (_, i) => callTool("math", "echo", { i })));`;

/** So long after a run its replacement guest is ready: what is measured is a run, not the making of a guest. */
const SETTLE_MS = 150;
const THROUGHPUT_SECONDS = 4;

async function run(sandbox: Sandbox, code: string): Promise<void> {
  const outcome = await sandbox.run({ code, invoker: echo });
  if (outcome.status !== "completed") throw new Error(`A measured run ended as ${JSON.stringify(outcome)}`);
}

async function nodeProcess(...args: string[]): Promise<void> {
  const [code] = await once(spawn(process.execPath, args, { stdio: "ignore" }), "exit");
  if (code !== 0) throw new Error(`node ${args.join(" ")} ended with ${code}`);
}

async function withSandbox<T>(work: (sandbox: Sandbox, folder: string) => Promise<T>): Promise<T> {
  return withFolder(async (folder) => {
    await writeSampleServer(folder);
    const sandbox = await openSandbox(folder, STANDBY);
    try {
      return await work(sandbox, folder);
    } finally {
      await sandbox.dispose();
    }
  });
}

/** Single runs and calls beside `node -e 0` as a child process. */
export async function measureRuns(rounds: number): Promise<Table> {
  return withSandbox(async (sandbox) => {
    const samples = await interleaved(
      {
        "node -e 0, a child process": () => nodeProcess("-e", "0"),
        "prewarmed run, one import, one tool call": () => run(sandbox, ONE_CALL),
        "prewarmed run, nothing called": () => run(sandbox, NO_CALLS),
        [`prewarmed run, ${CALLS} host calls in sequence`]: () => run(sandbox, IN_SEQUENCE),
        [`prewarmed run, ${CALLS} host calls in parallel`]: () => run(sandbox, IN_PARALLEL),
      },
      rounds,
      () => new Promise((resolve) => setTimeout(resolve, SETTLE_MS)),
    );
    const median = (name: string): number => samples.get(name)?.median ?? NaN;
    const base = median("node -e 0, a child process");
    const oneCall = (name: string): string =>
      rounded((median(name) - median("prewarmed run, nothing called")) / CALLS);
    return {
      title: `Runs, ms. Isolation: ${sandbox.isolation.level} (${sandbox.isolation.mechanisms.join(", ")})`,
      columns: ["", "median", "p95", "of node -e 0"],
      rows: [
        ...[...samples].map(([name, sample]) => [
          name,
          rounded(sample.median),
          rounded(sample.p95),
          rounded(sample.median / base),
        ]),
        ["one host call, in sequence", oneCall(`prewarmed run, ${CALLS} host calls in sequence`), "", ""],
        ["one host call, in parallel", oneCall(`prewarmed run, ${CALLS} host calls in parallel`), "", ""],
      ],
    };
  });
}

/** Runs per second, each with one import and one tool call. */
export async function measureThroughput(): Promise<Table> {
  return withSandbox(async (sandbox) => {
    const rows: string[][] = [];
    for (const concurrency of [1, 4, 8]) {
      const ours = await throughput(() => run(sandbox, ONE_CALL), concurrency, THROUGHPUT_SECONDS);
      const child = await throughput(() => nodeProcess("-e", "0"), concurrency, THROUGHPUT_SECONDS);
      rows.push([String(concurrency), rounded(ours), rounded(child), rounded(ours / child)]);
    }
    return { title: "Runs per second", columns: ["at once", "sandboxed runs", "node -e 0", "ratio"], rows };
  });
}

/** Memory of the host process after some runs and after many. */
export async function measureMemory(few: number, many: number): Promise<Table> {
  return withSandbox(async (sandbox) => {
    const after = async (runs: number): Promise<number> => {
      for (let done = 0; done < runs; done += 1) await run(sandbox, ONE_CALL);
      globalThis.gc?.();
      return process.memoryUsage().rss / 2 ** 20;
    };
    const early = await after(few);
    const late = await after(many - few);
    return {
      title: "Memory of the host process, MiB",
      columns: ["", "resident", "ratio"],
      rows: [
        [`after ${few} runs`, rounded(early), "1"],
        [`after ${many} runs`, rounded(late), rounded(late / early)],
      ],
    };
  });
}
