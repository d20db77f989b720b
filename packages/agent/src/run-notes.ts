import { toolId } from "@cem/core";
import type { Finding, RunOutcome, ToolCallRecord } from "@cem/core";
import type { Program } from "./run-context.ts";
import { suspicionsIn } from "./suspicions.ts";

type UnawaitedWork = NonNullable<RunOutcome["unawaited"]>[number];

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
  for (const { line, message } of suspicionsIn(findings))
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
