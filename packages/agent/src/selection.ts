import type { RankedTool, SelectedTool, Selection, ToolDefinition } from "@cem/core";
import type { RunContext } from "./run-context.ts";

/** The stage `select`: picks the tools that a task needs from those that can be called. */
export async function select(
  { stages, signal, progress }: RunContext,
  task: string,
  all: readonly ToolDefinition[],
): Promise<Selection> {
  const tools = callable(all);
  const pick = async (): Promise<Selection> => (await stages.selector.get()).select({ task, tools, signal });
  const { result: selection, ms } = await progress.stage("select", pick);
  progress.emit({
    type: "selected",
    tools: selection.selected.map(toSelectedTool),
    available: all.length,
    ms,
    notes: nonEmpty(selection.notes),
  });
  return selection;
}

/** As many tools as a model is shown all of, where those that were selected did not do. */
const MAX_ALL_TOOLS = 40;
/** As many tools as each search adds where there are more. */
const MAX_ADDED_TOOLS = 15;

/**
 * Picks more tools for a model that lacks some: all where they are few, else those that are found by the task and by the
 * model's own words for what is missing.
 *
 * @returns `undefined` where there are no others.
 */
export async function widen(
  { stages, signal, progress }: RunContext,
  { task, missing, selection }: { task: string; missing: string; selection: Selection },
  all: readonly ToolDefinition[],
): Promise<Selection | undefined> {
  const tools = callable(all);
  const { selected } = selection;
  if (selected.length >= tools.length) return undefined;
  const isSmall = tools.length <= MAX_ALL_TOOLS;
  const limit = isSmall ? tools.length : MAX_ADDED_TOOLS;
  const pick = async (): Promise<RankedTool[]> => {
    const selector = await stages.selector.get();
    const search = (words: string): Promise<RankedTool[]> =>
      selector.search({ task: words, tools, limit, signal });
    return isSmall ? search(task) : [...(await search(missing)), ...(await search(task))];
  };
  const { result: found, ms } = await progress.stage("select", pick);
  const rest = isSmall ? tools.map((tool): RankedTool => ({ tool, score: 0, reason: "one of few" })) : [];
  const byTool = new Map(selected.map((ranked) => [ranked.tool, ranked]));
  for (const ranked of [...found, ...rest]) if (!byTool.has(ranked.tool)) byTool.set(ranked.tool, ranked);
  if (byTool.size === selected.length) return undefined;
  const wider = [...byTool.values()];
  progress.emit({
    type: "selected",
    tools: wider.map(toSelectedTool),
    available: all.length,
    ms,
    notes: ["The model lacked a tool: it is asked once more with others."],
  });
  return { selected: wider, nearest: [] };
}

/** Picks the tools that the task would need if they could be called. */
export async function selectUnavailable(
  { stages, signal }: RunContext,
  task: string,
  all: readonly ToolDefinition[],
): Promise<RankedTool[]> {
  const tools = all.filter(({ unavailable }) => unavailable !== undefined);
  if (tools.length === 0) return [];
  const selector = await stages.selector.get();
  const { selected } = await selector.select({ task, tools, signal });
  return selected;
}

/** The tools that can be called. */
export function callable(all: readonly ToolDefinition[]): ToolDefinition[] {
  return all.filter(({ unavailable }) => unavailable === undefined);
}

export function toSelectedTool({ tool, score, reason }: RankedTool): SelectedTool {
  return { server: tool.server, tool: tool.name, score, reason };
}

/** A list, or `undefined` when it has no items. */
export function nonEmpty<T>(list: readonly T[] | undefined): readonly T[] | undefined {
  return list?.length === 0 ? undefined : list;
}
