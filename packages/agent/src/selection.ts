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
