import { mkdir, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { measureCalls } from "./calls.ts";
import { measureCatalogs } from "./catalogs.ts";
import { measureContentCache } from "./content-cache.ts";
import { measureColdStart } from "./cold-start.ts";
import { measureCustomers } from "./customers.ts";
import { measureReuse } from "./reuse.ts";
import { measureManyRuns, measureRuns, measureThroughput } from "./runs.ts";
import { measureState } from "./state.ts";
import { renderTable } from "./table.ts";
import type { Table } from "./table.ts";

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    json: { type: "string" },
    "isolated-vm": { type: "string" },
    packages: { type: "string", default: import.meta.dirname },
    only: { type: "string" },
  },
});
const rounds = values.quick ? 5 : 30;

const machine = {
  processor: os.cpus()[0]?.model ?? "unknown",
  cores: os.availableParallelism(),
  memoryGib: Math.round(os.totalmem() / 2 ** 30),
  system: `${os.platform()} ${os.release()} ${os.arch()}`,
  node: process.versions.node,
};
process.stdout.write(`${Object.values(machine).join(", ")}\n\n`);

const tables: Table[] = [];
const measures: Record<string, () => Promise<Table>> = {
  "cold-start": () => measureColdStart(rounds, values.packages),
  runs: () => measureRuns(rounds),
  throughput: () => measureThroughput(),
  calls: () => measureCalls(rounds),
  customers: () => measureCustomers(rounds),
  reuse: () => measureReuse(values.quick ? 1 : 3, values["isolated-vm"]),
  many: () => measureManyRuns(values.quick ? 1_000 : 20_000),
  state: () => measureState(rounds),
  "content-cache": () => measureContentCache(values.quick ? 1_000 : 10_000, values.quick ? 3 : 7),
  catalogs: () => measureCatalogs([10, 1000, 5000], rounds),
};
for (const [name, measure] of Object.entries(measures)) {
  if (values.only !== undefined && values.only !== name) continue;
  const table = await measure();
  process.stdout.write(`${renderTable(table)}\n`);
  tables.push(table);
}

const file = values.json ?? path.join(import.meta.dirname, "../../.cem/bench.json");
await mkdir(path.dirname(file), { recursive: true });
await writeFile(file, `${JSON.stringify({ machine, tables }, null, 2)}\n`);
process.stdout.write(`Figures as JSON: ${path.relative(process.cwd(), file)}\n`);
