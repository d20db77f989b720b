/**
 * Measures the search on labelled sets: `pnpm eval:retrieval --data DIR [--queries queries.dev.jsonl] [--json FILE]
 * [--rankings FILE] [--model DIR]`, or the folder in CEM_EVAL_DATA. Every folder of DIR with a tools.jsonl and that
 * file of queries is a set. `--model` adds the search by meaning with that model; `--library` says where
 * `@huggingface/transformers` is, if not installed.
 */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import type { ToolDefinition } from "@cem/core";
import { createSelector, createTransformersEmbedder, type Embedder } from "../src/index.ts";
import { createBaseline } from "./baseline.ts";
import { readSets, requireDirectory, type Query } from "./data.ts";
import { MEASURES, measure, type Measures } from "./measures.ts";
import { createMiniSearch } from "./mini-search.ts";
import { meanWithInterval, percentile, type Interval } from "./statistics.ts";

const RANKED = 10;

const { values } = parseArgs({
  options: {
    data: { type: "string" },
    queries: { type: "string", default: "queries.dev.jsonl" },
    json: { type: "string" },
    rankings: { type: "string" },
    model: { type: "string" },
    library: { type: "string" },
  },
});

type Search = (query: string) => string[] | Promise<string[]>;

interface Report {
  set: string;
  method: string;
  tools: number;
  queries: number;
  measures: Record<keyof Measures, Interval>;
  /** The mean number of tools that are returned for a query, at most {@link RANKED}. */
  returned: number;
  /** The share of the returned tools that are needed. */
  precision: number;
  p50Ms: number;
  p95Ms: number;
}

const reports: Report[] = [];
const rankings: string[] = [];
const embedder = values.model === undefined ? undefined : embedderOf(values.model);

for (const { name, tools, queries } of readSets(requireDirectory(values.data), values.queries)) {
  const measureOn = (method: string, search: Search, isRanked = false) =>
    run({ set: name, method, tools: tools.length, queries, search, isRanked });
  await measureOn("minisearch", createMiniSearch(tools, RANKED));
  const baseline = createBaseline(tools);
  await measureOn("BM25F", (query) => baseline(query, RANKED));
  await measureOn("selector", searchOf(tools), embedder === undefined);
  if (embedder !== undefined) {
    const selector = createSelector({ embedder });
    await selector.prepare(tools);
    if (selector.semantics.state !== "ready") {
      throw new Error(`The model can't be used: ${JSON.stringify(selector.semantics)}`);
    }
    await measureOn("hybrid", searchOf(tools, selector), true);
  }
}
await embedder?.dispose?.();
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(reports, null, 2)}\n`);
if (values.rankings !== undefined) writeFileSync(values.rankings, rankings.join(""));

function searchOf(tools: readonly ToolDefinition[], selector = createSelector()): Search {
  return async (query) => {
    const ranked = await selector.search({ task: query, tools, limit: RANKED });
    return ranked.map(({ tool }) => `${tool.server}/${tool.name}`);
  };
}

function embedderOf(modelDir: string): Embedder {
  const { library } = values;
  return createTransformersEmbedder({ modelDir, library });
}

interface Run {
  set: string;
  method: string;
  tools: number;
  queries: readonly Query[];
  search: Search;
  /** Whether its rankings are the ones to write. */
  isRanked: boolean;
}

async function run({ set, method, tools, queries, search, isRanked }: Run): Promise<void> {
  const scores: Measures[] = [];
  const times: number[] = [];
  const counts = { returned: 0, needed: 0 };
  // Indexing is no part of a query's time.
  await search("a");
  for (const { id, query, groups } of queries) {
    const start = performance.now();
    const ranked = await search(query);
    times.push(performance.now() - start);
    scores.push(measure(ranked, groups));
    counts.returned += ranked.length;
    counts.needed += ranked.filter((tool) => groups.some((group) => group.includes(tool))).length;
    if (isRanked) rankings.push(`${JSON.stringify({ set, id, ranked })}\n`);
  }
  const measures = Object.fromEntries(
    MEASURES.map((name) => [name, meanWithInterval(scores.map((score) => score[name]))]),
  ) as Report["measures"];
  const [p50Ms, p95Ms] = [percentile(times, 0.5), percentile(times, 0.95)];
  const report = {
    set,
    method,
    tools,
    queries: queries.length,
    measures,
    returned: counts.returned / queries.length,
    precision: counts.needed / counts.returned,
    p50Ms,
    p95Ms,
  };
  reports.push(report);
  print(report);
}

function print({ set, method, tools, queries, measures, ...report }: Report): void {
  const figures = MEASURES.map((name) => {
    const { mean, low, high } = measures[name];
    return `${name} ${percent(mean).padStart(5)} [${percent(low)}–${percent(high)}]`;
  });
  const head = `${set.padEnd(16)} ${method.padEnd(10)} ${tools} tools, ${queries} queries`;
  const times = `p50 ${report.p50Ms.toFixed(2)} ms  p95 ${report.p95Ms.toFixed(2)} ms`;
  const size = `returned ${report.returned.toFixed(1)}, ${percent(report.precision)} % of them needed`;
  process.stdout.write(`${head}  ${times}  ${size}\n    ${figures.join("  ")}\n`);
}

function percent(share: number): string {
  return (100 * share).toFixed(1);
}
