import { answerOf, shortenOutput, type Attachment, type HintFor } from "@cem/tool-files/answers";
import { holdsRedactionToken, MS_PER_SECOND, toolId } from "@cem/core";
import type { JsonValue, ResultStore, TaskResult, ToolCallRecord } from "@cem/core";
import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/server";
import { currentExchange } from "../exchange.ts";
import type { RunView } from "../runs/run.ts";
import { SAFE_WORDS, seconds, type GuestFacts, type ToolAnswer } from "./server-tool.ts";

const MAX_NAMED_TOOLS = 10;
const TOKENS =
  "Tokens such as [[EMAIL:…]] stand for values kept from you: write them whole, and tools get the values.";

interface AnswerOptions {
  guest: GuestFacts;
  results: ResultStore | undefined;
  hintFor: HintFor | undefined;
  verbose: boolean;
}

/** The answer of a tool that runs code: success, result, output and error, or the id of a run that has not ended. */
export async function answerRun(
  view: Exclude<RunView, { state: "asking" }>,
  options: AnswerOptions,
): Promise<ToolAnswer> {
  if (view.state === "finished") return answerResult(view.result, options);
  const { results } = options;
  const { id, output } = view;
  const hint = `${stillRunning(view, options.guest)} read_result {"handle":"${id}"} waits for more; with "end":true it stops the run.`;
  const shown = { run: id, output: await shortenOutput(output, results, readResult) };
  return { ...answer(shown, [text(hint)]), [SAFE_WORDS]: hint };
}

/** Describes how long a run has been running and its time limit, which starts with its code, not with the call. */
function stillRunning(
  { since, waitsFor }: { since: Date; waitsFor: string | undefined },
  { timeoutMs }: GuestFacts,
): string {
  const state = waitsFor === undefined ? "Still running" : `Not begun (${waitsFor})`;
  const begun = `${state}, since ${since.toISOString().slice(0, 19)}Z (${seconds(Date.now() - since.getTime())})`;
  return timeoutMs === undefined ? `${begun}.` : `${begun}; its code is stopped after ${seconds(timeoutMs)}.`;
}

async function answerResult(
  result: TaskResult,
  { results, hintFor, verbose }: AnswerOptions,
): Promise<ToolAnswer> {
  const settings = { results, hintFor, verbose, readWith: readResult };
  const { data, summary, attachments } = await answerOf(result, settings);
  const retryAfter = retryAfterOf(result);
  if (retryAfter !== undefined) currentExchange().retryAfter(retryAfter);
  const waiting = retryAfter === undefined ? data : { ...data, retry_after_seconds: retryAfter };
  const blocks = attachments.map(blockOf);
  const more = summary === "" ? blocks : [text(summary), ...blocks];
  const words = `The run ended with the status "${result.status}". ${callsMade(result.toolCalls)}`;
  return { ...answer(waiting, more), ...(!data.success && { isError: true }), [SAFE_WORDS]: words };
}

/** Describes the calls of a run. Only known tools are named: code may call any name, even one that must be hidden. */
export function callsMade(calls: readonly ToolCallRecord[]): string {
  if (calls.length === 0) return "It called no tools.";
  const known = calls.filter(({ ok, place }) => ok && place === undefined);
  const byTool = Map.groupBy(known, ({ server, tool }) => toolId({ server, name: tool }));
  const named = [...byTool].slice(0, MAX_NAMED_TOOLS).map(([id, { length }]) => `${id} ${length}x`);
  const counted = calls.length === 1 ? "1 tool call" : `${calls.length} tool calls`;
  const list = named.length === 0 ? "" : ` (among them ${named.join(", ")})`;
  return `It made ${counted}${list}; a retry does the same again.`;
}

/** Converts bytes to MCP content: an image, audio, or an embedded resource. */
export function blockOf({ type, mimeType, bytes, uri }: Attachment): ContentBlock {
  const data = Buffer.from(bytes).toString("base64");
  if (type === "image" || type === "audio") return { type, mimeType, data };
  return { type: "resource", resource: { uri, mimeType, blob: data } };
}

function readResult(path: string): string {
  return `read_result {"handle":"${path}"}`;
}

/** The number of seconds after which a refused request can be retried. */
function retryAfterOf({ error }: TaskResult): number | undefined {
  const ms = error?.details["retryAfterMs"];
  return typeof ms === "number" ? Math.ceil(ms / MS_PER_SECOND) : undefined;
}

function answer(data: { [key: string]: JsonValue }, more: ContentBlock[]): CallToolResult {
  const json = JSON.stringify(data);
  const explained = holdsRedactionToken(json) ? [text(TOKENS)] : [];
  return { content: [text(json), ...explained, ...more], structuredContent: data };
}

function text(words: string): ContentBlock {
  return { type: "text", text: words };
}
