/**
 * Generates every schema of a folder of evaluation data, type-checks all modules, checks what each hand-made hostile
 * schema asks for, and times the generator beside others.
 *
 *   node --conditions=@cem/source scripts/evaluate.ts --data DIR
 *
 * DIR (or CEM_EVAL_DATA) holds schemas/nasty.jsonl, schemas/adversarial.jsonl and catalog/tools.jsonl.
 */
import { parseArgs } from "node:util";
import path from "node:path";
import { callEveryTool } from "./evaluate/calls.ts";
import { checkHostile } from "./evaluate/hostile.ts";
import { inspectAll } from "./evaluate/inspection.ts";
import { comparePeers } from "./evaluate/peers.ts";
import { readRows } from "./evaluate/rows.ts";
import { generateAll } from "./evaluate/generation.ts";
import { typeCheck } from "./evaluate/type-check.ts";

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

const { values } = parseArgs({ options: { data: { type: "string" } } });
const data = values.data ?? process.env["CEM_EVAL_DATA"];
if (data === undefined) {
  process.stderr.write("Say where the evaluation data is: --data DIR, or set CEM_EVAL_DATA.\n");
  process.exit(2);
}

let failures = 0;
for (const file of ["schemas/adversarial.jsonl", "schemas/nasty.jsonl", "catalog/tools.jsonl"]) {
  const rows = await readRows(path.join(data, file));
  const comparison = await comparePeers(rows);
  const generated = generateAll(rows);
  const problems = [...generated.problems, ...typeCheck(generated.modules)];
  if (file.includes("adversarial")) problems.push(...(await checkHostile(rows)));
  else problems.push(...(await callEveryTool(rows)));
  failures += problems.length;
  print(`\n${file}: ${rows.length} tools, ${generated.modules.length} modules, ${generated.skipped} refused`);
  print(`  warnings ${generated.warnings}, largest growth ${generated.largestGrowth.toFixed(1)} times`);
  print(`  problems ${problems.length}`);
  for (const problem of problems.slice(0, 20)) print(`    ${problem}`);
  for (const line of comparison) print(`  ${line}`);
  if (file.includes("catalog")) for (const line of inspectAll(rows)) print(`  ${line}`);
}
process.exitCode = failures === 0 ? 0 : 1;
