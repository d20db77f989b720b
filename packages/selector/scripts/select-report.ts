import type { ToolDefinition, ToolSelector } from "@cem/core";
import type { Query } from "./data.ts";

/** Figures of `select` on labelled queries, and on queries that no tool of the catalog can do. */
export interface SelectFigures {
  /** Share of the needed groups that were chosen. */
  recall: number;
  /** Share of the chosen tools that were needed. */
  precision: number;
  /** Tools chosen for one query, on average. */
  size: number;
  /** Share of the queries for which the best choice was needed. */
  first: number;
  /** Share of the queries that got no tool. */
  empty: number;
  /** Share of the off-topic queries that got no tool; absent without such queries. */
  refused?: number | undefined;
}

export async function reportSelect(
  selector: ToolSelector,
  tools: readonly ToolDefinition[],
  queries: readonly Query[],
  offTopic: readonly string[],
): Promise<SelectFigures> {
  const totals = { recall: 0, needed: 0, chosen: 0, first: 0, empty: 0 };
  for (const { query, groups } of queries) {
    const { selected } = await selector.select({ task: query, tools });
    const ids = selected.map(({ tool }) => `${tool.server}/${tool.name}`);
    const isNeeded = (id: string | undefined) => groups.some((group) => group.includes(id ?? ""));
    totals.recall += groups.filter((group) => group.some((id) => ids.includes(id))).length / groups.length;
    totals.needed += ids.filter(isNeeded).length;
    totals.chosen += ids.length;
    totals.first += isNeeded(ids[0]) ? 1 : 0;
    totals.empty += ids.length === 0 ? 1 : 0;
  }
  let refused = 0;
  for (const task of offTopic) {
    const { selected } = await selector.select({ task, tools });
    refused += selected.length === 0 ? 1 : 0;
  }
  return {
    recall: totals.recall / queries.length,
    precision: totals.needed / (totals.chosen || 1),
    size: totals.chosen / queries.length,
    first: totals.first / queries.length,
    empty: totals.empty / queries.length,
    refused: offTopic.length > 0 ? refused / offTopic.length : undefined,
  };
}

export function printSelect(set: string, figures: SelectFigures): void {
  const percent = (share: number) => (100 * share).toFixed(1).padStart(5);
  const refused = figures.refused === undefined ? "" : `  off-topic refused ${percent(figures.refused)}`;
  process.stdout.write(
    `${set.padEnd(16)} recall ${percent(figures.recall)}  precision ${percent(figures.precision)}  first ${percent(figures.first)}  empty ${percent(figures.empty)}  size ${figures.size.toFixed(2)}${refused}\n`,
  );
}
