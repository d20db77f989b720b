import { inspectDescription } from "../../src/index.ts";
import type { Row } from "./rows.ts";

/** How many descriptions are flagged, by which rule, and which ones. */
export function inspectAll(rows: readonly Row[]): string[] {
  const byRule = new Map<string, string[]>();
  let flagged = 0;
  const start = performance.now();
  for (const { server, tool, description, inputSchema, outputSchema } of rows) {
    const findings = inspectDescription({
      name: tool,
      description: description ?? "",
      inputSchema,
      outputSchema,
    });
    if (findings.length > 0) flagged += 1;
    for (const { rule, place, excerpt } of findings) {
      byRule.set(rule, [...(byRule.get(rule) ?? []), `${server}/${tool} ${place}: ${excerpt}`]);
    }
  }
  const ms = performance.now() - start;
  const lines = [`descriptions: ${flagged} of ${rows.length} flagged in ${ms.toFixed(0)} ms`];
  for (const [rule, places] of byRule) {
    lines.push(`  ${rule} ${places.length}`, ...places.slice(0, 5).map((place) => `    ${place}`));
  }
  return lines;
}
