// Measures the redaction of values: runs and calls with and without it, side by side, and 1 MB of JSON.
// Arguments, if any, name the rows to measure: `pnpm bench:redaction "texts without people"`.
import { createRedactor } from "@cem/pii";
import { z } from "zod";
import { createAgent, defineTool } from "../src/index.ts";
import type { Agent, ConfigInput } from "../src/index.ts";
import { temporaryFolder } from "../../../scripts/temporary-folder.ts";

const ROUNDS = 4;
const ROWS = 10_000;
const MEGABYTE = 1_000_000;

const WAYS: Readonly<Record<string, ConfigInput>> = {
  off: { guardrails: { piiDetection: false } },
  values: {},
  tokens: { privacy: { guest: "tokens" } },
  rules: { privacy: { rules: [{ to: "elsewhere", action: "deny" }] } },
};
const importing = 'import { one, rows, texts } from "./servers/crm/index.ts";\n';
const PROGRAMS: Readonly<Record<string, { code: string; times: number }>> = {
  "trivial run": { code: "return 1;", times: 60 },
  "one call": { code: `${importing}return one({ n: 1 });`, times: 25 },
  "100 calls": {
    code: `${importing}let sum = 0; for (let n = 0; n < 100; n += 1) sum += (await one({ n })).n; return sum;`,
    times: 10,
  },
  "10,000 rows in, 5 out": {
    code: `${importing}const all = await rows({}); const list = Array.isArray(all) ? all : await all.json(); return list.filter((row) => row.status === "open").sort((a, b) => b.amount - a.amount).slice(0, 5);`,
    times: 8,
  },
  "10,000 rows in and out": {
    code: `${importing}const all = await rows({}); return Array.isArray(all) ? all : await all.json();`,
    times: 4,
  },
  "texts without people": {
    code: `${importing}const all = await texts({}); console.log(all.slice(0, 50).join("\\n")); return all;`,
    times: 12,
  },
};

const rows = Array.from({ length: ROWS }, (_, id) => ({
  id,
  customer: `Customer ${id % 97}`,
  status: id % 3 === 0 ? "paid" : "open",
  amount: id * 1.5,
  email: `user${id}@example.com`,
  phone: `+1 415 555 ${String(id).padStart(4, "0")}`,
  created: "2026-02-03T10:11:12Z",
  city: "Berlin",
}));
let sentences = 0;
/** Sentences as issues, reports and pages have them: numbers, versions and names of things, and nobody. None comes twice. */
const texts = (): string[] =>
  Array.from({ length: 400 }, () => {
    const id = (sentences += 1);
    return (
      `Release ${id}.2.1 of the parser reads ${id * 37} lines in ${id % 90} ms: see docs/how-to/read-${id}.md and issue #${id + 1000}. ` +
      `The build of 2026-02-${String(1 + (id % 28)).padStart(2, "0")} is green; its cache is at /var/cache/build-${id} and the order of steps is as before.`
    );
  });
const tools = {
  crm: {
    rows: defineTool({ description: "Rows.", input: z.object({}), execute: async () => rows }),
    texts: defineTool({ description: "Texts.", input: z.object({}), execute: async () => texts() }),
    one: defineTool({
      description: "One.",
      input: z.object({ n: z.number() }),
      execute: async ({ n }) => ({ n }),
    }),
  },
};

const cwd = temporaryFolder("cem-bench");
const agents = new Map<string, Agent>(
  Object.entries(WAYS).map(([way, config]) => [way, createAgent({ cwd, configFile: false, config, tools })]),
);
const times = new Map<string, number[]>();
const named = process.argv.slice(2);
const programs = Object.entries(PROGRAMS).filter(([name]) => named.length === 0 || named.includes(name));
for (let round = 0; round < ROUNDS; round += 1) {
  for (const [at, [name, program]] of programs.entries()) {
    // A session for each: large results of one program are looked through at last in the runs that come after.
    const session = `bench-${at}`;
    for (const [way, agent] of agents) {
      const measured = times.get(`${name} ${way}`) ?? [];
      times.set(`${name} ${way}`, measured);
      for (let turn = 0; turn < program.times; turn += 1) {
        const start = processorMs();
        const { error } = await agent.executeCode(program.code, { session, typeCheck: "off" });
        if (error !== null) throw new Error(error.message);
        if (round > 0) measured.push(processorMs() - start);
      }
    }
  }
}
print(
  `${"processor ms of host, median".padEnd(24)}${[...agents.keys()].map((way) => way.padStart(16)).join("")}`,
);
for (const [name] of programs) {
  const off = median(times.get(`${name} off`) ?? []);
  const cells = [...agents.keys()].map((way) => {
    const ms = median(times.get(`${name} ${way}`) ?? []);
    return `${ms.toFixed(2)}${way === "off" ? "" : ` ×${(ms / off).toFixed(2)}`}`.padStart(16);
  });
  print(name.padEnd(24) + cells.join(""));
}
for (const agent of agents.values()) await agent.dispose();

const records: object[] = [];
for (let size = 0; size < MEGABYTE;) {
  const id = records.length;
  const email = id % 10 === 0 ? `user${id}@example.com` : null;
  const record = {
    id,
    name: `Customer ${id}`,
    created: "2026-02-03T10:11:12Z",
    city: "Berlin",
    email,
    note: "A short note about the order",
  };
  size += JSON.stringify(record).length;
  records.push(record);
}
const tokenizing = timed(() => createRedactor().tokenize(records, {}));
const copying = timed(() => JSON.parse(JSON.stringify(records)) as unknown);
print(`1 MB of JSON: ${tokenizing.toFixed(1)} ms to tokenize, ${copying.toFixed(1)} ms to write and parse`);

/** Processor time of this process: other work on the machine does not count. */
function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

function timed(work: () => unknown): number {
  return median(
    Array.from({ length: 15 }, () => {
      const start = performance.now();
      work();
      return performance.now() - start;
    }),
  );
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
