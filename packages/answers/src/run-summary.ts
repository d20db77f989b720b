import { toolId } from "@cem/core";
import type { TaskResult } from "@cem/core";

/** Tools beyond this number are counted, not named. */
const MAX_NAMED_TOOLS = 10;

/** Summarizes a run in a few lines for a model. Empty where nothing is worth the tokens. */
export function summarize(result: TaskResult, verbose: boolean): string {
  const lines: string[] = [];
  if (result.toolCalls.length > 0) lines.push(callLine(result));
  if (result.outputDroppedBytes > 0) {
    lines.push(
      `The program printed ${result.outputDroppedBytes} bytes more than output may have. These are kept nowhere: write to a file in /workspace instead.`,
    );
  }
  lines.push(...(result.notes ?? []), ...(result.warnings ?? []));
  if (verbose) lines.push(...verboseLines(result));
  return lines.join("\n");
}

function callLine({ toolCalls }: TaskResult): string {
  const byTool = new Map<string, { count: number; ms: number; failed: number }>();
  for (const { server, tool, ms, ok } of toolCalls) {
    const id = toolId({ server, name: tool });
    const sum = byTool.get(id) ?? { count: 0, ms: 0, failed: 0 };
    byTool.set(id, { count: sum.count + 1, ms: sum.ms + ms, failed: sum.failed + (ok ? 0 : 1) });
  }
  const named = [...byTool].slice(0, MAX_NAMED_TOOLS).map(([id, { count, ms, failed }]) => {
    const failures = failed === 0 ? "" : `, ${failed} failed`;
    return `${id} ${count}x ${Math.round(ms)} ms${failures}`;
  });
  const more = byTool.size > MAX_NAMED_TOOLS ? [`${byTool.size - MAX_NAMED_TOOLS} more tools`] : [];
  return `Tool calls: ${[...named, ...more].join("; ")}.`;
}

function verboseLines({
  timings,
  isolation,
  selectedTools,
  selectionNotes = [],
  code,
  origin,
  contextTokens,
}: TaskResult): string[] {
  const stages = Object.entries(timings).map(([stage, ms]) => `${stage} ${Math.round(ms)} ms`);
  const lines = [`Time: ${stages.join(", ")}.`];
  if (isolation !== null) lines.push(`Isolation: ${isolation.level} (${isolation.mechanisms.join(", ")}).`);
  if (selectedTools.length > 0) {
    const how = selectionNotes.length === 0 ? "" : ` (${selectionNotes.join("; ")})`;
    lines.push(`Selected: ${selectedTools.map(({ server, tool }) => `${server}.${tool}`).join(", ")}${how}.`);
  }
  lines.push(`Tokens kept out of context: ${contextTokens.saved} of ${contextTokens.direct}.`);
  if (origin !== "given" && code !== "") lines.push(`Code, by ${origin}:\n${code}`);
  return lines;
}
