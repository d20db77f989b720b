/**
 * Measures speed on a large catalog: `node --conditions=@cem/source scripts/evaluate-speed.ts TOOLS.jsonl`. Prints the
 * time to index and that of a query, in milliseconds of the processor.
 */
import { createSelector } from "../src/index.ts";
import { readTools } from "./data.ts";
import { percentile } from "./statistics.ts";

const QUERIES = 300;
const QUERY_CHARACTERS = 120;

const [file] = process.argv.slice(2);
if (file === undefined) {
  process.stderr.write("Say which tools: evaluate-speed.ts TOOLS.jsonl\n");
  process.exit(2);
}
const tools = readTools(file);
const selector = createSelector();
const built = await timed(() => selector.prepare(tools));
const step = Math.max(1, Math.floor(tools.length / QUERIES));
const tasks = tools
  .filter((_, at) => at % step === 0)
  .map(({ description }) => description.slice(0, QUERY_CHARACTERS));
const times: Record<"search" | "select", number[]> = { search: [], select: [] };
for (const task of tasks) {
  for (const method of ["search", "select"] as const) {
    times[method].push(await timed(() => selector[method]({ task, tools })));
  }
}
process.stdout.write(`${tools.length} tools: built in ${built.toFixed(0)} ms\n`);
for (const [method, list] of Object.entries(times)) {
  process.stdout.write(
    `${method}: p50 ${percentile(list, 0.5).toFixed(2)} ms, p95 ${percentile(list, 0.95).toFixed(2)} ms\n`,
  );
}

/** Of the processor, so that a busy machine counts less. */
async function timed(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
