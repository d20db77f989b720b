/**
 * Measures the search on labelled sets: `node --conditions=@cem/source scripts/evaluate.ts DIR [--json FILE]`, or the
 * folder in CEM_EVAL_DATA. DIR holds `retrieval/<set>/{tools,queries.dev}.jsonl` and, for the index's speed,
 * `catalog/tools.jsonl`. `--select` measures the choice of tools instead; `--off-topic FILE` adds tasks, one a line,
 * that no catalog can do.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createSelector } from "../src/index.ts";
import { createBaseline } from "./baseline.ts";
import { readQueries, readTools, type Query } from "./data.ts";
import { addMeasures, MEASURES, measure, noMeasures, type Measures } from "./measures.ts";
import { printSelect, reportSelect } from "./select-report.ts";

const CATALOG_SIZES = [10, 1_000, 5_000];
const RANKED = 10;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { json: { type: "string" }, select: { type: "boolean" }, "off-topic": { type: "string" } },
});
const directory = positionals[0] ?? process.env["CEM_EVAL_DATA"];
if (directory === undefined) {
  process.stderr.write("Say where the data is: evaluate.ts DIR, or set CEM_EVAL_DATA.\n");
  process.exit(2);
}

type Search = (query: string) => Promise<string[]>;

const retrieval = join(directory, "retrieval");
const offTopicFile = values["off-topic"];
const offTopic =
  offTopicFile === undefined ? [] : readFileSync(offTopicFile, "utf8").split("\n").filter(Boolean);
const report: Record<string, unknown>[] = [];
for (const set of readdirSync(retrieval).toSorted()) {
  const tools = readTools(join(retrieval, set, "tools.jsonl"));
  const queries = readQueries(join(retrieval, set, "queries.dev.jsonl"));
  const selector = createSelector();
  if (values.select === true) {
    const figures = await reportSelect(selector, tools, queries, offTopic);
    printSelect(set, figures);
    report.push({ set, method: "select", queries: queries.length, ...figures });
    continue;
  }
  const baseline = createBaseline(tools);
  await run(set, "BM25F", queries, (query) => Promise.resolve(baseline(query, RANKED)));
  await run(set, "selector", queries, async (query) => {
    const ranked = await selector.search({ task: query, tools, limit: RANKED });
    return ranked.map(({ tool }) => `${tool.server}/${tool.name}`);
  });
}

const catalog = join(directory, "catalog", "tools.jsonl");
if (existsSync(catalog)) {
  const all = readTools(catalog);
  for (const size of [...CATALOG_SIZES, all.length]) {
    await measureSpeed(all.slice(0, size));
  }
}
if (values.json !== undefined) {
  writeFileSync(values.json, `${JSON.stringify(report, null, 2)}\n`);
}

async function run(set: string, method: string, queries: Query[], search: Search): Promise<void> {
  const totals = noMeasures();
  const times: number[] = [];
  for (const { query, groups } of queries) {
    const start = performance.now();
    const ranked = await search(query);
    times.push(performance.now() - start);
    addMeasures(totals, measure(ranked, groups));
  }
  print(set, method, queries.length, totals, times);
}

function print(set: string, method: string, count: number, totals: Measures, times: number[]): void {
  const figures = MEASURES.map((name) => `${name} ${((100 * totals[name]) / count).toFixed(1).padStart(5)}`);
  const [p50, p95] = [percentile(times, 0.5), percentile(times, 0.95)];
  process.stdout.write(
    `${set.padEnd(16)} ${method.padEnd(9)} ${figures.join("  ")}  p50 ${p50.toFixed(2)} ms  p95 ${p95.toFixed(2)} ms\n`,
  );
  const shares = Object.fromEntries(MEASURES.map((name) => [name, totals[name] / count]));
  report.push({ set, method, queries: count, ...shares, p50Ms: p50, p95Ms: p95 });
}

async function measureSpeed(tools: ReturnType<typeof readTools>): Promise<void> {
  const selector = createSelector();
  const start = performance.now();
  await selector.search({ task: "weather", tools });
  const firstMs = performance.now() - start;
  const queries = tools.slice(0, 300).map(({ description }) => description.slice(0, 120));
  const times = { search: [] as number[], select: [] as number[] };
  for (const task of queries) {
    for (const method of ["search", "select"] as const) {
      const begin = performance.now();
      await selector[method]({ task, tools });
      times[method].push(performance.now() - begin);
    }
  }
  const [search, select] = [percentile(times.search, 0.5), percentile(times.select, 0.5)];
  process.stdout.write(
    `${String(tools.length).padStart(5)} tools: index and first search ${firstMs.toFixed(0)} ms, then search p50 ${search.toFixed(2)} ms, select p50 ${select.toFixed(2)} ms\n`,
  );
  report.push({ tools: tools.length, firstMs, searchP50Ms: search, selectP50Ms: select });
}

function percentile(numbers: number[], share: number): number {
  const sorted = numbers.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}
