// Measures the detectors on texts of ten countries that are made here, and on a set of labelled texts: --cases FILE
// [--predictions OUT].
import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { createDetector } from "../src/detect.ts";
import type { Finding } from "../src/context.ts";
import { countryCases } from "./country-cases.ts";

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
measureCountries();
const cases = (values.cases === undefined ? "" : readFileSync(values.cases, "utf8"))
  .split("\n")
  .filter((line) => line !== "")
  .map((line) => JSON.parse(line) as Case);

const detector = createDetector();
const start = performance.now();
const predictions = cases.map(({ id, text }) => ({ id, found: detector.find(text) }));
const ms = performance.now() - start;

for (const type of cases.length === 0 ? [] : TYPES) {
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
const foundIn = (wanted: string): Finding[] => predictions.find(({ id }) => id === wanted)?.found ?? [];
const flagged = alike.filter(({ id }) => foundIn(id).some(({ type }) => TYPES.includes(type)));
// The set has labels for six types: what is found of others are values that it does not label, or mistakes. Listed with --errors.
const others = alike.filter(({ id }) => foundIn(id).length > 0 && !flagged.some((one) => one.id === id));
if (cases.length > 0) {
  print(
    `look-alikes  ${flagged.length} of ${alike.length} texts without a labelled value are flagged with one`,
  );
  print(
    `other types  ${others.length} of them: ${countsOf(others.flatMap(({ id }) => foundIn(id).map(({ type }) => type)))}`,
  );
  for (const { id, text } of others)
    for (const finding of foundIn(id)) report("unlabelled", finding.type, text, finding);
  print(`${cases.length} cases in ${ms.toFixed(0)} ms`);
}
if (values.predictions !== undefined) {
  writeFileSync(values.predictions, predictions.map((one) => `${JSON.stringify(one)}\n`).join(""));
}

/** Prints what is found, by country and type, of the texts that are made here. */
function measureCountries(): void {
  const all = countryCases();
  for (const country of new Set(all.map((one) => one.country))) {
    const own = all.filter((one) => one.country === country);
    const finder = createDetector({ regions: [country] });
    const byType = new Map<string, { hits: number; values: number; wrong: number; alike: number }>();
    for (const { type, text, value } of own) {
      const count = byType.get(type) ?? { hits: 0, values: 0, wrong: 0, alike: 0 };
      byType.set(type, count);
      const found = finder.find(text);
      const place =
        value === undefined
          ? undefined
          : { start: text.indexOf(value), end: text.indexOf(value) + value.length, type };
      if (place === undefined) {
        count.alike += 1;
        if (found.length > 0) count.wrong += 1;
        for (const finding of found) report("wrong", finding.type, text, finding);
      } else {
        count.values += 1;
        if (found.some((finding) => finding.type === type && overlaps(finding, place))) count.hits += 1;
        else report("missed", type, text, place);
      }
    }
    const parts = [...byType].map(
      ([type, { hits, values, wrong, alike }]) => `${type} ${hits}/${values} found, ${wrong}/${alike} wrong`,
    );
    print(`${country}  ${own.length} texts  ${parts.join("; ")}`);
  }
}

function countsOf(names: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].map(([name, count]) => `${count} ${name}`).join(", ");
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
