import type { RankedTool, Selection, SelectRequest, TaskResult, ToolDefinition } from "@cem/core";
import { offerMore, offerTools, type Offered } from "./candidate-tools.ts";
import { callable } from "./catalog.ts";
import type { RunContext } from "./stages.ts";

type SelectedTool = TaskResult["selectedTools"][number];

/** The stage `select`: picks the callable tools that a task needs, and for a model as many others as fit its budget. */
export async function select(
  context: RunContext,
  { task, tools: all, catalogVersion }: Pick<SelectRequest, "task" | "tools" | "catalogVersion">,
) {
  const { stages, signal, progress } = context;
  const tools = callable(all);
  const pick = async (): Promise<Offered> => {
    const selection = await (await stages.selector.get()).select({ task, tools, catalogVersion, signal });
    const told = await offerTools(context, task, selection, all);
    const { toolBudget } = await stages.generator.get();
    if (told.others.length === 0 || toolBudget === undefined) return { selection, ...told };
    const names = told.named.length === 0 ? "" : `, and of ${told.named.length} by name`;
    const note = `the model is told of ${selection.selected.length + told.others.length}${names}`;
    return { selection: { ...selection, notes: [...(selection.notes ?? []), note] }, ...told };
  };
  const { result, ms } = await progress.stage("select", pick);
  const { selection } = result;
  progress.emit(selectedEvent(selection, all.length, ms, selection.notes));
  return result;
}

/**
 * Picks more tools for a model that lacks some, by its description of what is missing.
 *
 * @returns `undefined` if there are no others.
 */
export async function widen(
  context: RunContext,
  { task, missing, offered }: { task: string; missing: string; offered: Offered },
  all: readonly ToolDefinition[],
): Promise<Offered | undefined> {
  const { selection, others } = offered;
  const known = [...selection.selected.map(({ tool }) => tool), ...others];
  const search = () => offerMore(context, [missing, task], { offered: known, tools: all });
  const { result: added, ms } = await context.progress.stage("select", search);
  if (added.others.length === 0) return undefined;
  const note = `The model lacked a tool: it is asked once more with ${added.others.length} others.`;
  context.progress.emit(selectedEvent(selection, all.length, ms, [note]));
  return { selection, others: [...others, ...added.others], named: added.named };
}

function selectedEvent({ selected }: Selection, available: number, ms: number, notes?: readonly string[]) {
  const tools = selected.map(toSelectedTool);
  return { type: "selected", tools, available, ms, notes: nonEmpty(notes) } as const;
}

/** Counts tools that the code uses among those that were selected for the task. */
export function withUsed(offered: Offered, uses: readonly ToolDefinition[]): Offered {
  const { selection, others, named } = offered;
  const used = new Set(uses.filter((tool) => others.includes(tool) || named.includes(tool)));
  if (used.size === 0) return offered;
  const added = [...used].map((tool): RankedTool => ({ tool, score: 0, reason: "used by the program" }));
  return {
    selection: { ...selection, selected: [...selection.selected, ...added] },
    others: others.filter((tool) => !used.has(tool)),
    named: named.filter((tool) => !used.has(tool)),
  };
}

/** Picks the tools that the task would need if they could be called. */
export async function selectUnavailable(
  { stages, signal }: RunContext,
  task: string,
  all: readonly ToolDefinition[],
): Promise<RankedTool[]> {
  if (all.every(({ unavailable }) => unavailable === undefined)) return [];
  const selector = await stages.selector.get();
  const { selected } = await selector.select({ task, tools: all, signal });
  return selected.filter(({ tool }) => tool.unavailable !== undefined);
}

export function toSelectedTool({ tool, score, reason }: RankedTool): SelectedTool {
  return { server: tool.server, tool: tool.name, score, reason };
}

export function nonEmpty<T>(list: readonly T[] | undefined): readonly T[] | undefined {
  return list?.length === 0 ? undefined : list;
}
