import { setImmediate as nextTurn } from "node:timers/promises";
import type { CatalogSnapshot, Finding, RunOutcome, TaskResult } from "@cem/core";
import type { TokenCounter } from "@cem/core/tokens";
import { callNotes } from "./call-notes.ts";
import type { Offered } from "./candidate-tools.ts";
import { toolsOf } from "./catalog.ts";
import { contextTokens, countText, directTools } from "./context-tokens.ts";
import { notesOf, type DescribeCall, type Ending } from "./ending.ts";
import type { RepairHistory } from "./repair-history.ts";
import { nonEmpty, toSelectedTool } from "./selection.ts";
import type { Program, RunContext } from "./stages.ts";

/** Larger data takes milliseconds to process. */
const LARGE_CHARACTERS = 256 * 1024;

export async function toTaskResult(
  context: RunContext,
  state: RunState,
  ending: Ending,
): Promise<TaskResult> {
  const { catalog, history, offered, outcome, program } = state;
  const describeCall = describeCallIn(catalog);
  const { selection } = offered;
  const count = await context.stages.tokenCounter.get();
  const returned = [JSON.stringify(ending.value), outcome?.output ?? "", ending.error?.message ?? ""].join(
    "",
  );
  // The next step takes as long again.
  if (returned.length > LARGE_CHARACTERS) await nextTurn();
  return {
    ...ending,
    output: outcome?.output ?? "",
    outputDroppedBytes: outcome?.outputDroppedBytes ?? 0,
    code: program.code,
    origin: program.origin,
    selectedTools: selection.selected.map(toSelectedTool),
    selectionNotes: nonEmpty(selection.notes),
    availableTools: toolsOf(catalog).length,
    toolCalls: history.calls.map(describeCall),
    isolation: outcome?.isolation ?? null,
    timings: context.progress.timings(),
    contextTokens: countContext(context, state, returned, count),
    usage: history.usage,
    attempts: program.origin === "given" ? undefined : history.attempts,
    notes: nonEmpty([
      ...history.notes,
      ...notesOf(state, describeCall),
      ...(await inputNotes(outcome, program.code)),
      ...callNotes(outcome, program.code, describeCall),
    ]),
    warnings: nonEmpty(context.stages.settings.warnings?.()),
  };
}

/** A note on a default export that is called without the arguments that it needs. */
async function inputNotes(outcome: RunOutcome | undefined, code: string): Promise<string[]> {
  const hasRun = outcome?.status === "completed" || outcome?.status === "failed";
  if (!hasRun || !code.includes("export default")) return [];
  // The stages before have parsed the code, unless that takes long.
  const { isQuicklyRead, requiredParameters } = await import("@cem/program");
  const parameters = isQuicklyRead(code) ? requiredParameters(code) : undefined;
  if (parameters === undefined) return [];
  return [
    `The default export takes (${parameters}) and is called without arguments: set its values in the code.`,
  ];
}

/** Returns a function that reduces a call to what is reported: its names in code, and no large or private data. */
export function describeCallIn({ servers }: CatalogSnapshot): DescribeCall {
  return ({ server, tool, ms, startMs, ok, isCancelled, place }) => {
    const found = servers.find(({ name, tools }) => (tools[0]?.originalServer ?? name) === server);
    const name = found?.tools.find(({ originalName }) => originalName === tool)?.name ?? tool;
    return {
      server: found?.name ?? server,
      tool: name,
      ms,
      ok,
      ...(startMs !== undefined && { startMs }),
      ...(isCancelled === true && { isCancelled }),
      ...(place !== undefined && { place }),
    };
  };
}

function countContext(
  { stages }: RunContext,
  { catalog, history, outcome, program }: RunState,
  returned: string,
  count: TokenCounter,
): TaskResult["contextTokens"] {
  const definitions = stages.definitionTokens(directTools(toolsOf(catalog)), count);
  const { usage } = history;
  const given = program.origin === "given" ? countText(program.code, count) : undefined;
  return {
    ...contextTokens(definitions, outcome?.toolResults ?? [], returned, count),
    spent: usage === undefined ? given : usage.inputTokens + usage.outputTokens,
  };
}

/** The state of a run, from which its result is built, even if the run is cancelled half-way. */
export interface RunState {
  catalog: CatalogSnapshot;
  offered: Offered;
  /** Facts for the prompt about the data of the task: table columns, beginnings of files. `undefined`: none. */
  facts: string | undefined;
  program: Program;
  /** Findings of the last review. */
  findings: readonly Finding[];
  /** The outcome of the last attempt. `undefined` if its code was not run. */
  outcome: RunOutcome | undefined;
  readonly history: RepairHistory;
}
