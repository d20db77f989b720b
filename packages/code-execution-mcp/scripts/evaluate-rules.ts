/**
 * How often the rules write code for tasks in people's own words, without any model: `pnpm eval:rules --data DIR
 * [--queries queries.dev.jsonl] [--json FILE] [--examples N]`, or the folder in CEM_EVAL_DATA. Every folder of DIR with a
 * tools.jsonl and that file of queries is a set. The tools' servers are not at hand, so nothing is run: code counts as
 * good when its types are right and it calls a tool of each group that the task is labelled with; code that calculates without
 * any tool is counted apart.
 *
 * Each task is tried with the labelled tools alone, and with those that the selector chooses out of the whole set.
 *
 * With `--metamorphic`, each content word of each task for which code is written (those of the sets, with the labelled tools,
 * and those of the tests) is replaced in turn by another of its kind. The share that changes nothing is printed; it is 0.
 */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { createRulesGenerator } from "@cem/codegen/rules";
import type { Finding, GenerateFeedback, ToolDefinition } from "@cem/core";
import { createSelector } from "@cem/selector";
import { createTypeChecker } from "@cem/type-check";
import { checkWords } from "../../codegen/src/rules/testing/metamorphic.ts";
import { testTasks } from "../../codegen/src/rules/testing/wordings.ts";
import { idOf, readSets } from "./retrieval-sets.ts";
import type { LabelledQuery } from "./retrieval-sets.ts";

type Outcome =
  | "good"
  | "calculated"
  | "wrong types"
  | "tools left out"
  | "no tool"
  | "missing argument"
  | "not understood";

interface Figures {
  set: string;
  tools: "labelled" | "selected";
  tasks: number;
  outcomes: Partial<Record<Outcome, number>>;
  /** Good after the findings were told to the rules. */
  repaired: number;
}

const { values } = parseArgs({
  options: {
    data: { type: "string" },
    queries: { type: "string", default: "queries.dev.jsonl" },
    json: { type: "string" },
    examples: { type: "string", default: "0" },
    metamorphic: { type: "boolean", default: false },
  },
});
const folder = values.data ?? process.env["CEM_EVAL_DATA"];
if (folder === undefined) {
  process.stderr.write("Say where the data is: --data DIR, or CEM_EVAL_DATA.\n");
  process.exit(2);
}
const now = (): Date => new Date("2026-11-20T12:00:00Z");
const rules = createRulesGenerator({ now });
const checker = createTypeChecker();
const selector = createSelector();
const reports: Figures[] = [];
const examples: string[] = [];

for (const { name: set, byId, queries } of readSets(folder, values.queries)) {
  const all = [...byId.values()];
  if (values.metamorphic) {
    await printUnheard(
      set,
      queries.map(({ query, gold }) => ({ task: query, tools: gold.flatMap((id) => byId.get(id) ?? []) })),
    );
    continue;
  }
  await measure(set, "labelled", queries, async ({ gold }) => gold.flatMap((id) => byId.get(id) ?? []));
  await measure(set, "selected", queries, async ({ query }) => {
    const { selected } = await selector.select({ task: query, tools: all });
    return selected.map(({ tool }) => tool);
  });
}
if (values.metamorphic) await printUnheard("tests", testTasks());
await checker.dispose();
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(reports, null, 2)}\n`);
process.stdout.write(examples.slice(0, Number(values.examples)).join("\n"));

async function measure(
  set: string,
  from: Figures["tools"],
  queries: readonly LabelledQuery[],
  choose: (query: LabelledQuery) => Promise<ToolDefinition[]>,
): Promise<void> {
  const report: Figures = { set, tools: from, tasks: queries.length, outcomes: {}, repaired: 0 };
  for (const query of queries) {
    const tools = await choose(query);
    const first = await attempt(query, tools);
    report.outcomes[first.outcome] = (report.outcomes[first.outcome] ?? 0) + 1;
    if (from === "labelled")
      examples.push(`${first.outcome}: ${JSON.stringify(query.query)}\n${first.detail}\n`);
    if (first.outcome !== "wrong types") continue;
    const feedback: GenerateFeedback[] = [
      { code: first.code, findings: first.findings, output: "", calls: [] },
    ];
    report.repaired += (await attempt(query, tools, feedback)).outcome === "good" ? 1 : 0;
  }
  reports.push(report);
  print(report);
}

interface Attempt {
  outcome: Outcome;
  code: string;
  findings: Finding[];
  detail: string;
}

async function attempt(
  { query, gold, groups = gold.map((id) => [id]) }: LabelledQuery,
  tools: readonly ToolDefinition[],
  feedback: GenerateFeedback[] = [],
): Promise<Attempt> {
  const generated = await rules.generate({ task: query, tools, feedback });
  if (generated.status === "refused") {
    const [step] = generated.steps;
    const outcome =
      step?.reason === "no-tool"
        ? "no tool"
        : step?.reason === "missing-argument"
          ? "missing argument"
          : "not understood";
    return { outcome, code: "", findings: [], detail: `${step?.step}: ${step?.hint}` };
  }
  const { code, uses } = generated;
  const findings = await checker.check({ code, tools });
  const used = new Set(uses.map(idOf));
  const complete = groups.every((group) => group.some((id) => used.has(id)));
  // `Calculate 2 + 3` needs no tool for it: the program does nothing else.
  const written =
    uses.length === 0 && /^const \w+ = (?:readable\()?[-\d.()+*/% ]+;$/mu.test(code)
      ? "calculated"
      : "tools left out";
  const outcome = findings.length > 0 ? "wrong types" : complete ? "good" : written;
  return { outcome, code, findings, detail: code };
}

/** Replaces the words of tasks and prints which replacements changed nothing. */
async function printUnheard(set: string, tasks: Parameters<typeof checkWords>[0]): Promise<void> {
  const { written, replaced, unheard } = await checkWords(tasks, now);
  const share = replaced === 0 ? 0 : (100 * unheard.length) / replaced;
  process.stdout.write(
    `${set.padEnd(16)} code for ${written} of ${tasks.length} tasks; ${replaced} words replaced, without effect: ${unheard.length} (${share.toFixed(1)} %)\n`,
  );
  for (const { word, by, of } of unheard.slice(0, Number(values.examples)))
    process.stdout.write(`  ${word} by ${by || "nothing"}: ${JSON.stringify(of)}\n`);
}

function print({ set, tools, tasks, outcomes, repaired }: Figures): void {
  const share = (count = 0): string => `${((100 * count) / tasks).toFixed(1)} %`;
  const rest = Object.entries(outcomes)
    .filter(([outcome]) => outcome !== "good")
    .map(([outcome, count]) => `${outcome} ${share(count)}`);
  process.stdout.write(
    `${set.padEnd(16)} ${tools} tools, ${tasks} tasks: good ${share(outcomes.good)}, with repair ${share((outcomes.good ?? 0) + repaired)}; ${rest.join(", ")}\n`,
  );
}
