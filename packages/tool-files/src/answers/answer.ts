import { forClients, toolId } from "@cem/core";
import type { ErrorInfo, JsonValue, ResultStore, TaskResult } from "@cem/core";
import { attachmentsOf, keepBase64, type Attachment } from "./attachments.ts";
import { fitValue } from "./fit-value.ts";

/** Longer output is stored as a result; only its beginning and end are shown. */
const MAX_OUTPUT_CHARACTERS = 6 * 1024;
const SHOWN_BEGINNING = 800;
const SHOWN_END = 300;

/** Finds a hint for an error: a setting, an option or a command. */
export type HintFor = (error: ErrorInfo) => string | undefined;

/** Settings of {@link answerOf}. */
export interface AnswerSettings {
  /** Stores what is too large for an answer. Absent: it is cut. */
  results: ResultStore | undefined;
  /**
   * Describes how a model reads the rest of a stored output.
   *
   * @param path - Where it is stored.
   * @defaultValue only in code
   */
  readWith?: ((path: string) => string) | undefined;
  hintFor?: HintFor | undefined;
  /**
   * Whether to show times, isolation, selected tools and the code.
   *
   * @defaultValue false
   */
  verbose?: boolean | undefined;
}

/** The result of a run, as a model reads it. */
export interface Answer {
  data: AnswerData;
  /** The calls made, and other remarks. Empty when nothing is worth the tokens. */
  summary: string;
  /** The images, sounds and files that `data.result` refers to. */
  attachments: Attachment[];
}

/** The value, the output and the error of a run, each shortened for a model. */
export interface AnswerData {
  success: boolean;
  /** The value, or the handle of a large one with the line of code that reads it. */
  result: JsonValue;
  output: string;
  error: string | null;
  [key: string]: JsonValue;
}

/** Formats the result of a run for a model: large or non-text parts are stored and replaced by handles. */
export async function answerOf(
  result: TaskResult,
  { results, readWith, hintFor, verbose = false }: AnswerSettings,
): Promise<Answer> {
  const plain = await keepBase64(result.value, results);
  const [value, output, { attachments, leftOut }] = await Promise.all([
    fitValue(plain, results),
    shortenOutput(result.output, results, readWith),
    results === undefined ? { attachments: [], leftOut: 0 } : attachmentsOf(plain, results),
  ]);
  const error = result.error === null ? null : messageOf(result.error, hintFor);
  const data = { success: result.status === "success", result: value, output, error };
  const left =
    leftOut === 0 ? [] : [`${leftOut} of the images, sounds and files are not shown, and are handles only.`];
  const summary = [summarize(result, verbose), ...left].filter((text) => text !== "").join("\n");
  return { data, summary, attachments };
}

/** The message of an error for a client, followed by its hint, if any. */
export function messageOf(error: ErrorInfo, hintFor?: HintFor): string {
  const shown = forClients(error);
  const hint = shown === error ? hintFor?.(error) : undefined;
  return hint === undefined ? shown.message : `${shown.message} ${hint}`;
}

/** Shortens long output to its beginning and its end. The whole output is stored as a result if there is a store. */
export async function shortenOutput(
  output: string,
  results: ResultStore | undefined,
  readWith?: (path: string) => string,
): Promise<string> {
  if (output.length <= MAX_OUTPUT_CHARACTERS) return output;
  const kept = await results?.write(Buffer.from(output), "text/plain", "output.txt");
  const where =
    kept === undefined
      ? ""
      : `. All ${output.length}: ${readWith === undefined ? `in code: await Deno.readTextFile("${kept.path}")` : `${readWith(kept.path)}, or read that file in code`}`;
  const left = output.length - SHOWN_BEGINNING - SHOWN_END;
  return `${output.slice(0, SHOWN_BEGINNING)}\n[${left} characters are left out here${where}]\n${output.slice(-SHOWN_END)}`;
}

/** Tools beyond this number are counted, not named. */
const MAX_NAMED_TOOLS = 10;

/** Summarizes a run in a few lines for a model. Empty when nothing is worth the tokens. */
function summarize(result: TaskResult, verbose: boolean): string {
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

/** The calls by tool: `crm.find 16x 53 ms, 1 failed, 3 without an answer`. Overlapping time is counted once. */
function callLine({ toolCalls }: TaskResult): string {
  const byTool = Map.groupBy(toolCalls, ({ server, tool }) => toolId({ server, name: tool }));
  const named = [...byTool].slice(0, MAX_NAMED_TOOLS).map(([id, calls]) => {
    const cancelled = calls.filter(({ isCancelled }) => isCancelled === true).length;
    const failed = calls.filter(({ ok }) => !ok).length - cancelled;
    const failures = failed === 0 ? "" : `, ${failed} failed`;
    const stopped = cancelled === 0 ? "" : `, ${cancelled} without an answer as the run ended`;
    return `${id} ${calls.length}x ${Math.round(passedMs(calls))} ms${failures}${stopped}`;
  });
  const more = byTool.size > MAX_NAMED_TOOLS ? [`${byTool.size - MAX_NAMED_TOOLS} more tools`] : [];
  return `Tool calls: ${[...named, ...more].join("; ")}.`;
}

function passedMs(calls: TaskResult["toolCalls"]): number {
  let passed = 0;
  let until = 0;
  for (const { startMs = until, ms } of calls.toSorted(
    (one, other) => (one.startMs ?? 0) - (other.startMs ?? 0),
  )) {
    passed += Math.max(0, startMs + ms - Math.max(until, startMs));
    until = Math.max(until, startMs + ms);
  }
  return passed;
}

function verboseLines(result: TaskResult): string[] {
  const { timings, isolation, selectedTools, selectionNotes = [], code, origin, contextTokens } = result;
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
