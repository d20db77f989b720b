import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
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

/** So long after a run its guest is ready again: what is measured is a run, not what comes after it. */
const SETTLE_MS = 20;
const THROUGHPUT_SECONDS = 4;
const BATCHES = 5;

async function run(sandbox: Sandbox, code: string): Promise<void> {
  const outcome = await sandbox.run({ code, invoker: echo });
  if (outcome.status !== "completed") throw new Error(`A measured run ended as ${JSON.stringify(outcome)}`);
}

function nodeProcess(...args: string[]): Promise<void> {
  return childProcess(process.execPath, args);
}

async function childProcess(file: string, args: readonly string[]): Promise<void> {
  const [code] = await once(spawn(file, args, { stdio: "ignore" }), "exit");
  if (code !== 0) throw new Error(`${file} ${args.join(" ")} ended with ${code}`);
}

/** The binary that the sandbox runs. */
function denoFile(): string {
  const chain = ["@cem/sandbox-deno", `@deno/${process.platform}-${process.arch}-glibc/package.json`];
  const manifest = chain.reduce(
    (from, name) => createRequire(from).resolve(name),
    fileURLToPath(import.meta.resolve("code-execution-mcp")),
  );
  return path.join(path.dirname(manifest), "deno");
}

async function withSandbox<T>(
  reuse: "none" | "session",
  work: (sandbox: Sandbox, folder: string) => Promise<T>,
): Promise<T> {
  return withFolder(async (folder) => {
    await writeSampleServer(folder);
    const sandbox = await openSandbox(folder, STANDBY, reuse);
    try {
      return await work(sandbox, folder);
    } finally {
      await sandbox.dispose();
    }
  });
}

/** Single runs and calls beside `node -e 0` as a child process. */
export async function measureRuns(rounds: number): Promise<Table> {
  return withSandbox("session", async (sandbox) => {
    const samples = await interleaved(
      {
        "node -e 0, a child process": () => nodeProcess("-e", "0"),
        "run, one import, one tool call": () => run(sandbox, ONE_CALL),
        "run, nothing called": () => run(sandbox, NO_CALLS),
        [`run, ${CALLS} host calls in sequence`]: () => run(sandbox, IN_SEQUENCE),
        [`run, ${CALLS} host calls in parallel`]: () => run(sandbox, IN_PARALLEL),
      },
      rounds,
      () => new Promise((resolve) => setTimeout(resolve, SETTLE_MS)),
    );
    const median = (name: string): number => samples.get(name)?.median ?? NaN;
    const base = median("node -e 0, a child process");
    const oneCall = (name: string): string => rounded((median(name) - median("run, nothing called")) / CALLS);
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
        ["one host call, in sequence", oneCall(`run, ${CALLS} host calls in sequence`), "", ""],
        ["one host call, in parallel", oneCall(`run, ${CALLS} host calls in parallel`), "", ""],
      ],
    };
  });
}

/**
 * Runs per second, each with one import and one tool call: in a session, and with a process for each. Beside them a bare
 * Deno and a bare Node that start and end.
 */
export async function measureThroughput(): Promise<Table> {
  return withSandbox("session", (inSession) =>
    withSandbox("none", async (oneEach, folder) => {
      const empty = path.join(folder, "empty.js");
      await writeFile(empty, "");
      const rows: string[][] = [];
      for (const concurrency of [1, 4, 8]) {
        const rate = (work: () => Promise<void>) => throughput(work, concurrency, THROUGHPUT_SECONDS);
        const session = await rate(() => run(inSession, ONE_CALL));
        const process = await rate(() => run(oneEach, ONE_CALL));
        const deno = await rate(() => childProcess(denoFile(), ["run", "--quiet", "--no-config", empty]));
        const node = await rate(() => nodeProcess("-e", "0"));
        rows.push([concurrency, session, process, deno, node, process / deno].map(rounded));
      }
      return {
        title: "Runs per second",
        columns: [
          "at once",
          "in a session",
          "a process each",
          "deno, empty file",
          "node -e 0",
          "process to deno",
        ],
        rows,
      };
    }),
  );
}

/** Whether runs get slower, and memory larger, over many runs of one session. */
export async function measureManyRuns(many: number): Promise<Table> {
  return withSandbox("session", async (sandbox) => {
    const batch = Math.floor(many / BATCHES);
    const rows: string[][] = [];
    let base: { ms: number; mib: number } | undefined;
    for (let done = batch; done <= many; done += batch) {
      const times: number[] = [];
      for (let index = 0; index < batch; index += 1) {
        const start = performance.now();
        await run(sandbox, ONE_CALL);
        times.push(performance.now() - start);
      }
      globalThis.gc?.();
      const ms = times.toSorted((one, other) => one - other)[batch >> 1] ?? NaN;
      const mib = process.memoryUsage().rss / 2 ** 20;
      base ??= { ms, mib };
      rows.push([done, ms, ms / base.ms, mib, mib / base.mib].map(rounded));
    }
    return {
      title: `${many} runs of one session, in ${BATCHES} parts`,
      columns: ["runs", "median, ms", "of the first", "host, MiB", "of the first"],
      rows,
    };
  });
}
