import os from "node:os";
import path from "node:path";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { CemError } from "@cem/core";
import type { SandboxProvider, ToolInvoker } from "code-execution-mcp";

const POOL_SIZE = 3;

/** How guests are had: a new one for each run, one that waits, or one for all runs of a session. */
export const MODES = ["without pool", "with pool", "session"] as const;
export type Mode = (typeof MODES)[number];

/** One sandbox in one mode. Times are of this run on this host: compare them with each other only. */
export interface PoolingResult {
  sandbox: string;
  level: string;
  mode: Mode;
  /** Each run's program and time, in the order of the runs. */
  runs: { id: string; ms: number }[];
  firstMs: number;
  /** The median of the runs after the first; absent where there was one run. */
  laterMs?: number | undefined;
}

export interface PoolingReport {
  results: PoolingResult[];
  /** Sandboxes that can't be had here, and why. */
  absent: { sandbox: string; reason: string }[];
}

type MakeProvider = (settings: { standby: number; reuse: "none" | "session" }) => SandboxProvider;

const invoker: ToolInvoker = {
  specificationVersion: "v1",
  invoke: async ({ args }) => ({ ok: true, value: args }),
};

/** Runs a sequence of programs in every sandbox and mode that this host has, one after another. */
export async function measurePooling(
  sequence: readonly BenchProgram[],
  { signal, onRun }: { signal: AbortSignal; onRun: (text: string) => void },
): Promise<PoolingReport> {
  const { createDenoSandboxProvider, createMicrosandboxProvider } = await import("code-execution-mcp/stages");
  const providers: Record<string, MakeProvider> = {
    deno: createDenoSandboxProvider,
    microsandbox: createMicrosandboxProvider,
  };
  const report: PoolingReport = { results: [], absent: [] };
  for (const [sandbox, makeProvider] of Object.entries(providers)) {
    const probe = await makeProvider({ standby: 0, reuse: "none" }).probe({ signal });
    if (!probe.available) {
      report.absent.push({ sandbox, reason: probe.reason });
      continue;
    }
    for (const mode of MODES) {
      const runs = await measureMode(makeProvider, mode, sequence, { signal, onRun });
      report.results.push({ sandbox, level: probe.isolation.level, mode, runs, ...summaryOf(runs) });
    }
  }
  return report;
}

async function measureMode(
  makeProvider: MakeProvider,
  mode: Mode,
  sequence: readonly BenchProgram[],
  { signal, onRun }: { signal: AbortSignal; onRun: (text: string) => void },
): Promise<PoolingResult["runs"]> {
  const workspaceDir = await mkdtemp(path.join(os.tmpdir(), "cem-bench-"));
  const standby = mode === "without pool" ? 0 : POOL_SIZE;
  const provider = makeProvider({ standby, reuse: mode === "session" ? "session" : "none" });
  try {
    await writeBenchTools(workspaceDir);
    const sandbox = await provider.create({ workspaceDir }, { signal });
    try {
      const runs: PoolingResult["runs"] = [];
      for (const { id, code } of sequence) {
        const outcome = await sandbox.run({ code, invoker, signal, session: "bench" });
        signal.throwIfAborted();
        if (outcome.status !== "completed") {
          throw new CemError("BENCH_RUN_FAILED", `Program ${id} ended as ${outcome.status} (${mode}).`);
        }
        runs.push({ id, ms: outcome.durationMs });
        onRun(`${provider.name}, ${mode}: ${id} ${outcome.durationMs.toFixed(1)} ms`);
      }
      return runs;
    } finally {
      await sandbox.dispose();
    }
  } finally {
    await rm(workspaceDir, { recursive: true, force: true });
  }
}

/** First and later runs apart: a pool is there for the later ones. */
export function summaryOf(runs: PoolingResult["runs"]): { firstMs: number; laterMs?: number | undefined } {
  const [first, ...later] = runs.map(({ ms }) => ms);
  const sorted = later.toSorted((one, other) => one - other);
  const median = sorted[Math.floor(sorted.length / 2)];
  return { firstMs: first ?? 0, laterMs: median };
}

/** How many times as long as the quickest: 1 is the quickest itself. */
export function ratioOf(result: PoolingResult, results: readonly PoolingResult[]): number {
  const time = ({ firstMs, laterMs }: PoolingResult) => laterMs ?? firstMs;
  return time(result) / Math.min(...results.map(time));
}

/** One program that is measured. */
export interface BenchProgram {
  id: string;
  title: string;
  code: string;
}

const ADD = `import { add } from "./servers/bench/index.ts";\n`;

export const PROGRAMS: readonly BenchProgram[] = [
  { id: "01", title: "a value", code: "export default 6 * 7;" },
  { id: "02", title: "a tool that is a file", code: `${ADD}export default await add({ a: 5, b: 3 });` },
  {
    id: "03",
    title: "a tool on the host",
    code: `import { callTool } from "cem:client";\nexport default await callTool("bench", "echo", { a: 1 });`,
  },
  {
    id: "04",
    title: "twenty calls at once",
    code: `import { callTool } from "cem:client";\nconst calls = Array.from({ length: 20 }, (_, index) => callTool("bench", "echo", { index }));\nexport default (await Promise.all(calls)).length;`,
  },
  {
    id: "05",
    title: "a file written and read",
    code: `Deno.writeTextFileSync("bench.json", JSON.stringify({ rows: 1000 }));\nexport default JSON.parse(Deno.readTextFileSync("bench.json")).rows;`,
  },
  {
    id: "06",
    title: "a thousand lines of output",
    code: "for (let line = 0; line < 1000; line += 1) console.log(line);\nexport default 1000;",
  },
  {
    id: "07",
    title: "some arithmetic",
    code: "let sum = 0;\nfor (let index = 0; index < 1_000_000; index += 1) sum += index % 7;\nexport default sum;",
  },
];

/** The tool that the programs import. */
async function writeBenchTools(workspaceDir: string): Promise<void> {
  const folder = path.join(workspaceDir, "servers", "bench");
  await mkdir(folder, { recursive: true });
  const tool =
    "export async function add({ a, b }: { a: number; b: number }): Promise<number> {\n  return a + b;\n}\n";
  await writeFile(path.join(folder, "index.ts"), tool);
}
