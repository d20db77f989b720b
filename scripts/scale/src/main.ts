// npm run scale: simulates, and writes scripts/scale/results.json, docs/scale.md and its plots.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Measured } from "./measured.ts";
import { renderPage } from "./page.ts";
import { renderPlots } from "./plots.ts";
import { simulateAll } from "./scenarios.ts";

const docs = path.resolve(import.meta.dirname, "../../../docs");
const plots = path.join(docs, "public", "scale");

const measured = JSON.parse(
  readFileSync(path.join(import.meta.dirname, "../measured.json"), "utf8"),
) as Measured;
const results = simulateAll(measured);
writeFileSync(path.join(import.meta.dirname, "../results.json"), `${JSON.stringify(results)}\n`);
writeFileSync(path.join(docs, "scale.md"), renderPage(measured, results));
mkdirSync(plots, { recursive: true });
for (const [name, svg] of Object.entries(renderPlots(measured, results))) {
  writeFileSync(path.join(plots, `${name}.svg`), svg);
}
