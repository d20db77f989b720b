// Measures the detectors on a set of labelled texts: --cases FILE [--predictions OUT].
import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { createDetector } from "../src/detect.ts";
import type { Finding } from "../src/types.ts";

interface Case {
  id: string;
  text: string;
  spans: Finding[];
  labelled: string[];
}

const TYPES = ["EMAIL", "SSN", "IBAN", "IP", "CREDIT_CARD", "PHONE"];
const { values } = parseArgs({
  options: { cases: { type: "string" }, predictions: { type: "string" }, errors: { type: "boolean" } },
});
if (values.cases === undefined)
  throw new Error("Say which cases: pnpm eval:pii --cases FILE [--predictions OUT] [--errors]");
const cases = readFileSync(values.cases, "utf8")
  .split("\n")
  .filter((line) => line !== "")
  .map((line) => JSON.parse(line) as Case);

const detector = createDetector();
const start = performance.now();
const predictions = cases.map(({ id, text }) => ({ id, found: detector.find(text) }));
const ms = performance.now() - start;

for (const type of TYPES) {
  const count = { hits: 0, exact: 0, found: 0, labels: 0, recalled: 0 };
  for (const [index, { text, spans, labelled }] of cases.entries()) {
    if (!labelled.includes(type)) continue;
    const found = (predictions[index]?.found ?? []).filter((finding) => finding.type === type);
    const labels = spans.filter((span) => span.type === type);
    count.found += found.length;
    count.labels += labels.length;
    for (const finding of found) {
      if (labels.some((label) => overlaps(label, finding))) count.hits += 1;
      else report("wrong", type, text, finding);
      if (labels.some((label) => label.start === finding.start && label.end === finding.end))
        count.exact += 1;
    }
    for (const label of labels) {
      if (found.some((finding) => overlaps(label, finding))) count.recalled += 1;
      else report("missed", type, text, label);
    }
  }
  const { hits, exact, found, labels, recalled } = count;
  print(
    `${type.padEnd(12)} precision ${ratio(hits, found)}  recall ${ratio(recalled, labels)}  exact ${ratio(exact, found)}  (${found} found, ${labels} labelled)`,
  );
}
const alike = cases.filter(({ spans, labelled }) => spans.length === 0 && labelled.length >= TYPES.length);
const flagged = alike.filter(({ id }) => (predictions.find((one) => one.id === id)?.found.length ?? 0) > 0);
print(`look-alikes  ${flagged.length} of ${alike.length} texts without a value are flagged`);
print(`${cases.length} cases in ${ms.toFixed(0)} ms`);
if (values.predictions !== undefined) {
  writeFileSync(values.predictions, predictions.map((one) => `${JSON.stringify(one)}\n`).join(""));
}

function overlaps(a: Finding, b: Finding): boolean {
  return a.start < b.end && b.start < a.end;
}

function ratio(part: number, whole: number): string {
  return whole === 0 ? "  –  " : (part / whole).toFixed(3);
}

function report(what: string, type: string, text: string, { start: from, end }: Finding): void {
  if (values.errors !== true) return;
  const around = text.slice(Math.max(0, from - 30), end + 20).replaceAll("\n", "|");
  print(`  ${what} ${type}: ${text.slice(from, end)}   in: ${around}`);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
