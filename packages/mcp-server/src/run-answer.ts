import type { JsonValue, ResultHandle, ResultStore, TaskResult } from "@cem/core";
import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/server";
import { attachmentsOf } from "./attachments.ts";
import { seconds } from "./guest-facts.ts";
import type { GuestFacts } from "./guest-facts.ts";
import { currentExchange } from "./http-exchange.ts";
import { isObject } from "./is-object.ts";
import { keepBase64 } from "./keep-base64.ts";
import { MAX_OUTPUT_CHARACTERS, MAX_VALUE_CHARACTERS } from "./limits.ts";
import type { RunView } from "./run.ts";
import { summarize } from "./run-summary.ts";
import { messageOf } from "./server-tool.ts";
import type { HintFor } from "./server-tool.ts";

const MS_PER_SECOND = 1_000;
const PREVIEW_CHARACTERS = 400;
const MAX_NAMED_KEYS = 30;

interface AnswerOptions {
  guest: GuestFacts;
  results: ResultStore | undefined;
  hintFor: HintFor | undefined;
  verbose: boolean;
}

/** The answer of a tool that runs code: success, result, output and error, or the id of a run still under way. */
export async function answerRun(
  view: Exclude<RunView, { state: "asking" }>,
  options: AnswerOptions,
): Promise<CallToolResult> {
  if (view.state === "finished") return answerResult(view.result, options);
  const { results } = options;
  const { id, output } = view;
  const hint = `${stillRunning(view.since, options.guest)} read_result {"handle":"${id}"} waits for more; with "end":true it stops the run.`;
  return answer({ run: id, output: await shorten(output, results) }, [text(hint)]);
}

/** Says since when a run is under way and how long at most. The time limit begins with its code, not with the call. */
function stillRunning(since: Date, { timeoutMs }: GuestFacts): string {
  const begun = `Still running, since ${since.toISOString().slice(0, 19)}Z (${seconds(Date.now() - since.getTime())})`;
  return timeoutMs === undefined ? `${begun}.` : `${begun}; its code is stopped after ${seconds(timeoutMs)}.`;
}

async function answerResult(
  result: TaskResult,
  { results, hintFor, verbose }: AnswerOptions,
): Promise<CallToolResult> {
  const success = result.status === "success";
  const plain = await keepBase64(result.value, results);
  const [value, output, attachments] = await Promise.all([
    fit(plain, results),
    shorten(result.output, results),
    results === undefined ? [] : attachmentsOf(plain, results),
  ]);
  const summary = summarize(result, verbose);
  const error = result.error === null ? null : messageOf(result.error, hintFor);
  const retryAfter = retryAfterOf(result);
  if (retryAfter !== undefined) currentExchange().retryAfter(retryAfter);
  const waiting = retryAfter === undefined ? {} : { retry_after_seconds: retryAfter };
  const data = { success, result: value, output, error, ...waiting };
  const more = summary === "" ? attachments : [text(summary), ...attachments];
  return success ? answer(data, more) : { ...answer(data, more), isError: true };
}

/** After how many seconds the same would be done that was refused now. */
function retryAfterOf({ error }: TaskResult): number | undefined {
  const ms = error?.details["retryAfterMs"];
  return typeof ms === "number" ? Math.ceil(ms / MS_PER_SECOND) : undefined;
}

function answer(data: { [key: string]: JsonValue }, more: ContentBlock[]): CallToolResult {
  return { content: [text(JSON.stringify(data)), ...more], structuredContent: data };
}

function text(words: string): ContentBlock {
  return { type: "text", text: words };
}

/** The value itself, or a handle of it where it would fill the model's context. */
async function fit(value: JsonValue, results: ResultStore | undefined): Promise<JsonValue> {
  const json = JSON.stringify(value);
  if (json.length <= MAX_VALUE_CHARACTERS) return value;
  if (results === undefined) return cutNotice(json);
  const isText = typeof value === "string";
  const bytes = Buffer.from(isText ? value : json);
  const mimeType = isText ? "text/plain" : "application/json";
  const { path, size } = await results.write(bytes, mimeType, isText ? "value.txt" : "value.json");
  const preview = (isText ? value : json).slice(0, PREVIEW_CHARACTERS);
  const handle: ResultHandle = { type: isText ? "text" : "json", mimeType, size, path, preview };
  return { ...handle, ...shapeOf(value), read: readingCode(path, isText) };
}

/** How long a value is that was kept, and what it has: what a program needs to take a part of it. */
function shapeOf(value: JsonValue): { [name: string]: JsonValue } {
  if (typeof value === "string") return { characters: value.length };
  if (Array.isArray(value)) {
    const [first] = value;
    return { items: value.length, ...(isObject(first) ? { item_keys: keysOf(first) } : {}) };
  }
  return isObject(value) ? { keys: keysOf(value) } : {};
}

/** The line of code that reads a kept value in the next program. */
function readingCode(path: string, isText: boolean): string {
  const read = `await Deno.readTextFile(${JSON.stringify(path)})`;
  return isText ? `const value = ${read};` : `const value = JSON.parse(${read});`;
}

function keysOf(value: object): string[] {
  const keys = Object.keys(value);
  const left = keys.length - MAX_NAMED_KEYS;
  return left > 0 ? [...keys.slice(0, MAX_NAMED_KEYS), `… and ${left} more`] : keys;
}

/** Long output as its beginning and its end. The whole is kept as a result where there is a store. */
async function shorten(output: string, results: ResultStore | undefined): Promise<string> {
  if (output.length <= MAX_OUTPUT_CHARACTERS) return output;
  const half = MAX_OUTPUT_CHARACTERS / 2;
  const kept = await results?.write(Buffer.from(output), "text/plain", "output.txt");
  const where =
    kept === undefined
      ? ""
      : `. All ${output.length}: read_result {"handle":"${kept.path}"}, or in code: const output = await Deno.readTextFile("${kept.path}");`;
  const left = output.length - 2 * half;
  return `${output.slice(0, half)}\n[${left} characters are left out here${where}]\n${output.slice(-half)}`;
}

function cutNotice(json: string): string {
  return `${json.slice(0, MAX_VALUE_CHARACTERS)}\n[cut: the value has ${json.length} characters of JSON, ${MAX_VALUE_CHARACTERS} are shown. Return less, or write it to a file in /workspace and return the part that matters.]`;
}
