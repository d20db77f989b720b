import { renderPairs } from "./render-rows.ts";
import { oneLine } from "./safe-text.ts";
import type { Style } from "./text-layout.ts";
import { wrapIndented } from "./text-layout.ts";

const MAX_NEAREST = 3;
const INDENT = "  ";
const WAYS: readonly [string, string][] = [
  ["Add a server that can:", "cem add <name> -- npx -y <server>"],
  ["Write a tool that can:", "a file servers/<server>/<tool>.ts; cem init makes an example"],
  ["See what there is:", "cem tools"],
];
/** The step asks what there is. */
const LOOKING_WAYS: readonly [string, string][] = [
  ["See what there is:", "cem tools"],
  ["Look for some:", 'cem search "<words>"'],
];
const FIRST_WAYS: readonly [string, string][] = [
  ["Begin with examples:", "cem init"],
  ["Add a server:", "cem add <name> -- npx -y <server>"],
];
/** A tool is there; what was asked of it was not understood. */
const WORDING_WAYS: readonly [string, string][] = [
  ["Write the code yourself:", "cem exec <file>"],
  ["Let a model write it:", "llm.enabled in config.yaml"],
];

/** Why a task was refused, from the details of its error, which may be of any shape. */
export interface Refusal {
  steps: readonly unknown[];
  nearest: unknown;
  /** How many tools there are. */
  tools: unknown;
  /** What makes a tool that fits callable again. */
  hint: string | undefined;
}

/** Renders which steps of a task can't be done, which tools come nearest, and what to do. */
export function renderRefusal({ steps, nearest, tools, hint }: Refusal, style: Style): string[] {
  const { colors, width } = style;
  const indented = (text: string): string[] => wrapIndented(text, INDENT, width);
  const reasons = steps.map((step) => oneLine(textOf(step, "hint"))).filter((reason) => reason !== "");
  const lines = reasons.flatMap(indented).map((line) => colors.yellow(line));
  const near = (Array.isArray(nearest) ? nearest : []).slice(0, MAX_NEAREST).map(nearestText);
  const isToolMissing = steps.some((step) => textOf(step, "reason") === "no-tool");
  const nearestLine = isToolMissing && near.length > 0 ? `Nearest: ${near.join(", ")}. ` : "";
  lines.push(...indented(`${nearestLine}Nothing was run.`));
  if (steps.some(isUnavailable) && hint !== undefined) return [...lines, "", ...indented(hint)];
  const isLooking = steps.length > 0 && steps.every((step) => textOf(step, "argument") === "tools");
  const missingWays = tools === 0 ? FIRST_WAYS : isLooking ? LOOKING_WAYS : WAYS;
  const ways = isToolMissing ? missingWays : steps.some(isUnread) ? WORDING_WAYS : [];
  return ways.length === 0 ? lines : [...lines, "", ...renderPairs(ways, INDENT, style)];
}

function isUnread(step: unknown): boolean {
  return textOf(step, "reason") === "not-understood";
}

function isUnavailable(step: unknown): boolean {
  return typeof step === "object" && step !== null && Reflect.has(step, "unavailable");
}

function textOf(data: unknown, key: string): string {
  const value: unknown = typeof data === "object" && data !== null ? Reflect.get(data, key) : undefined;
  return typeof value === "string" ? value : "";
}

function nearestText(entry: unknown): string {
  const score: unknown =
    typeof entry === "object" && entry !== null ? Reflect.get(entry, "score") : undefined;
  const tool = oneLine(textOf(entry, "tool"));
  return typeof score === "number" ? `${tool} (${score.toFixed(2)})` : tool;
}
