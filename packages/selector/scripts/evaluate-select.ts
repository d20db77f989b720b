/**
 * Measures the choice of tools on labelled sets: `node --conditions=@cem/source scripts/evaluate-select.ts --data DIR
 * [--queries FILE] [--off-topic FILE]`. The file of off-topic tasks has one a line that no catalog can do.
 */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { createSelector } from "../src/index.ts";
import { readSets, requireDirectory } from "./data.ts";
import { printSelect, reportSelect } from "./select-report.ts";

const { values } = parseArgs({
  options: {
    data: { type: "string" },
    queries: { type: "string", default: "queries.dev.jsonl" },
    "off-topic": { type: "string" },
  },
});
const file = values["off-topic"];
const offTopic = file === undefined ? [] : readFileSync(file, "utf8").split("\n").filter(Boolean);
for (const { name, tools, queries } of readSets(requireDirectory(values.data), values.queries)) {
  printSelect(name, await reportSelect(createSelector(), tools, queries, offTopic));
}
