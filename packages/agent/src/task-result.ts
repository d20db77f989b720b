import { setImmediate as nextTurn } from "node:timers/promises";
import { toolId } from "@cem/core";
import type {
  CatalogSnapshot,
  ContextTokens,
  Finding,
  RunOutcome,
  TaskResult,
  ToolCallRecord,
  UnawaitedWork,
} from "@cem/core";
import type { TokenCounter } from "@cem/core/tokens";
import { toolsOf } from "./catalog.ts";
import { contextTokens, countText } from "./context-tokens.ts";
import type { Ending } from "./execution.ts";
import { unknownFieldsIn } from "./repair-history.ts";
import type { Program, RunContext, RunState } from "./run-context.ts";
import { nonEmpty, toSelectedTool } from "./selection.ts";

/** Larger data takes milliseconds to look through. */
const LARGE_CHARACTERS = 256 * 1024;

/** Puts together the result of a run. */
export async function toTaskResult(
  context: RunContext,
  state: RunState,
  ending: Ending,
): Promise<TaskResult> {
  const { catalog, findings, history, offered, outcome, program } = state;
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
    toolCalls: history.calls.map(describeCallIn(catalog)),
    isolation: outcome?.isolation ?? null,
    timings: context.progress.timings(),
    contextTokens: countContext(context, state, returned, count),
    usage: history.usage,
    attempts: program.origin === "given" ? undefined : history.attempts,
    notes: nonEmpty([...history.notes, ...notesOf({ outcome, program, findings }, describeCallIn(catalog))]),
    warnings: nonEmpty(context.stages.settings.warnings?.()),
  };
}

/**
 * Returns a function that turns a call into what events and results tell of it: the tool by its name in code, which its
 * server may call otherwise, and nothing of what the call carried, which may be large or private.
 */
export function describeCallIn({ servers }: CatalogSnapshot): (call: ToolCallRecord) => ToolCallRecord {
  return ({ server, tool, ms, ok }) => {
    const tools = servers.find(({ name }) => name === server)?.tools;
    const name = tools?.find(({ originalName }) => originalName === tool)?.name ?? tool;
    return { server, tool: name, ms, ok };
  };
}

function countContext(
  { stages }: RunContext,
  { catalog, history, outcome, program }: RunState,
  returned: string,
  count: TokenCounter,
): ContextTokens {
  const definitions = stages.definitionTokens.total(toolsOf(catalog), count);
  const { usage } = history;
  const given = program.origin === "given" ? countText(program.code, count) : undefined;
  return {
    ...contextTokens(definitions, outcome?.toolResults ?? [], returned, count),
    spent: usage === undefined ? given : usage.inputTokens + usage.outputTokens,
  };
}

const NOTHING_RETURNED = "The code returned and printed nothing: end with `return …` or `export default …`.";

/** Turns a call into the tool's name in code. */
type Describe = (call: ToolCallRecord) => ToolCallRecord;

/** A run, or code that was not run. */
interface FinishedRun {
  outcome: RunOutcome | undefined;
  program: Program;
  findings: readonly Finding[];
}

/**
 * Remarks on a run that whoever wrote the code should know: what it did not await, fields that it read and that are not there,
 * and that it gave no result.
 */
export function notesOf(
  { outcome, program: { origin }, findings }: FinishedRun,
  describeCall: Describe,
): string[] {
  if (outcome === undefined) return [];
  const { output, outputDroppedBytes, status, unawaited = [] } = outcome;
  const notes = status === "timed-out" ? [] : unawaitedNotes(unawaited, describeCall);
  for (const { line, message } of unknownFieldsIn(findings))
    notes.push(line === undefined ? message : `Line ${line}: ${message}`);
  const isSilent = status === "completed" && outcome.value === undefined && output === "";
  // Code by rules ends without a value only where its task asks for none.
  if (isSilent && outputDroppedBytes === 0 && origin !== "rules") notes.push(NOTHING_RETURNED);
  return notes;
}

/** Names work that was not awaited: `crm.find (lines 3 and 5), setTimeout (line 7)`. */
export function nameWork(works: readonly UnawaitedWork[], describeCall: Describe): string {
  const lines = new Map<string, Set<number>>();
  for (const work of works) {
    const name = nameOf(work, describeCall);
    const of = lines.get(name) ?? new Set();
    if (work.line !== undefined) of.add(work.line);
    lines.set(name, of);
  }
  return [...lines].map(([name, of]) => (of.size === 0 ? name : `${name} (${linesOf([...of])})`)).join(", ");
}

function unawaitedNotes(works: readonly UnawaitedWork[], describeCall: Describe): string[] {
  const notes: string[] = [];
  const calls = works.filter(({ isStopped, kind }) => !isStopped && kind !== "timer");
  if (calls.length > 0) {
    const names = nameWork(calls, describeCall);
    notes.push(`Not awaited, though the run waited for it: ${names}. Write \`await\`.`);
  }
  const stopped = works.filter(({ isStopped }) => isStopped);
  if (stopped.length > 0) {
    const names = nameWork(stopped, describeCall);
    notes.push(`Stopped, since the code had returned: ${names}. Await what has to happen before the end.`);
  }
  return notes;
}

function nameOf({ kind, name, server = "" }: UnawaitedWork, describeCall: Describe): string {
  if (kind !== "call") return name;
  const { tool } = describeCall({ server, tool: name, ms: 0, ok: true });
  return toolId({ server, name: tool });
}

function linesOf(lines: readonly number[]): string {
  if (lines.length === 1) return `line ${lines[0]}`;
  return `lines ${lines.slice(0, -1).join(", ")} and ${lines.at(-1)}`;
}
