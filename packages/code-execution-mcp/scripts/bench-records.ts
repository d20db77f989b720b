// Measures the recording of runs: the same programs with and without records, in turns, and the process's time for a run.
import { createAgent, defineTool } from "../src/index.ts";
import { z } from "zod";
import { temporaryFolder } from "../../../scripts/temporary-folder.ts";

const ROUNDS = 5;
const importing = 'import { one, rows } from "./servers/crm/index.ts";\n';
const PROGRAMS: Readonly<Record<string, { code: string; times: number }>> = {
  "trivial run": { code: "return 1;", times: 600 },
  "one call": { code: `${importing}return one({ n: 1 });`, times: 200 },
  "100 calls": {
    code: `${importing}let sum = 0; for (let n = 0; n < 100; n += 1) sum += (await one({ n })).n; return sum;`,
    times: 30,
  },
  "10,000 rows in, 5 out": {
    code: `${importing}const all = await rows({}); return all.filter((row) => row.status === "open").sort((a, b) => b.amount - a.amount).slice(0, 5);`,
    times: 10,
  },
};
const ROWS = Array.from({ length: 10_000 }, (_, id) => ({
  id,
  customer: `Customer ${id % 97}`,
  status: id % 3 === 0 ? "paid" : "open",
  amount: id * 1.5,
}));
const tools = {
  crm: {
    rows: defineTool({ description: "Rows.", input: z.object({}), execute: async () => ROWS }),
    one: defineTool({
      description: "One.",
      input: z.object({ n: z.number() }),
      execute: async ({ n }) => ({ n }),
    }),
  },
};

/** Of one program in one way, in each round. */
interface Measured {
  median: number[];
  p95: number[];
  /** Of the whole process, with what was put off until the agent is disposed. */
  cpu: number[];
}

const measured = new Map<string, Measured>();
/** The name of a program, or nothing for all. */
const only = process.argv[2];
for (let round = 0; round <= ROUNDS; round += 1) {
  for (const [name, { code, times }] of Object.entries(PROGRAMS)) {
    if (only !== undefined && only !== name) continue;
    // The order changes with the round.
    for (const records of round % 2 === 0 ? [false, true] : [true, false]) {
      const runs = await measure(code, times, records);
      if (round === 0) continue;
      const key = `${name} ${String(records)}`;
      const sofar = measured.get(key) ?? { median: [], p95: [], cpu: [] };
      measured.set(key, sofar);
      sofar.median.push(quantile(runs.ms, 0.5));
      sofar.p95.push(quantile(runs.ms, 0.95));
      sofar.cpu.push(runs.cpu / times);
    }
  }
}
print(
  `${"ms without, with, ratio".padEnd(24)}${["median", "p95", "CPU a run"].map((title) => title.padStart(24)).join("")}`,
);
for (const name of Object.keys(PROGRAMS)) {
  const [without, with_] = [measured.get(`${name} false`), measured.get(`${name} true`)];
  if (without === undefined || with_ === undefined) continue;
  print(
    name.padEnd(24) +
      (["median", "p95", "cpu"] as const).map((what) => cell(without[what], with_[what])).join(""),
  );
}

async function measure(
  code: string,
  times: number,
  records: boolean,
): Promise<{ ms: number[]; cpu: number }> {
  const cwd = temporaryFolder("cem-bench");
  const agent = createAgent({ cwd, configFile: false, config: { privacy: {} }, tools, records });
  const ms: number[] = [];
  let cpu = 0;
  try {
    // The guests are there, and what is loaded with the first record is loaded.
    for (let turn = 0; turn < 20; turn += 1) await run(agent, code);
    const before = process.cpuUsage();
    for (let turn = 0; turn < times; turn += 1) {
      const started = performance.now();
      await run(agent, code);
      ms.push(performance.now() - started);
    }
    await agent.dispose();
    const { user, system } = process.cpuUsage(before);
    cpu = (user + system) / 1_000;
  } finally {
    await agent.dispose();
  }
  return { ms, cpu };
}

async function run(agent: ReturnType<typeof createAgent>, code: string): Promise<void> {
  const { error } = await agent.executeCode(code, { session: "bench", typeCheck: "off" });
  if (error !== null) throw new Error(error.message);
}

function cell(without: readonly number[], with_: readonly number[]): string {
  const [one, other] = [quantile(without, 0.5), quantile(with_, 0.5)];
  return `${one.toFixed(2)} ${other.toFixed(2)} ${(other / one).toFixed(2)}`.padStart(24);
}

function quantile(values: readonly number[], part: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * part)] ?? 0;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
