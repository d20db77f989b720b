import { renderPairs } from "./render-rows.ts";
import { oneLine } from "./safe-text.ts";
import type { Style } from "./text-layout.ts";
import { wrapIndented } from "./text-layout.ts";

const MAX_NEAREST = 3;
const INDENT = "  ";
/** The step asks what there is. */
const LOOKING_WAYS: readonly [string, string][] = [
  ["See what there is:", "cem tools"],
  ["Look for some:", 'cem search "<words>"'],
];
const FIRST_WAYS: readonly [string, string][] = [
  ["Begin with examples:", "cem init"],
  ["Add a server:", "cem add <name> -- npx -y <server>"],
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
  const reasons = steps.flatMap((step) => textOf(step, "hint").split("\n")).map((reason) => oneLine(reason));
  const lines = reasons.filter((reason) => reason !== "").flatMap(indented);
  const colored = lines.map((line) => colors.yellow(line));
  const near = (Array.isArray(nearest) ? nearest : []).slice(0, MAX_NEAREST).map(nearestText);
  const isToolMissing = steps.some((step) => textOf(step, "reason") === "no-tool");
  const nearestLine = isToolMissing && near.length > 0 ? indented(`Nearest: ${near.join(", ")}.`) : [];
  const told = [...colored, ...nearestLine, ...indented("Nothing was run.")];
  if (steps.some(isUnavailable) && hint !== undefined) return [...told, "", ...indented(hint)];
  const isLooking = steps.length > 0 && steps.every((step) => textOf(step, "argument") === "tools");
  if (isToolMissing && (tools === 0 || isLooking))
    return [...told, "", ...renderPairs(tools === 0 ? FIRST_WAYS : LOOKING_WAYS, INDENT, style)];
  const adding = isToolMissing ? " cem tools lists what there is, cem add another server." : "";
  return [...colored, ...nearestLine, ...indented(`Nothing was run. ${waysOn(steps)}${adding}`)];
}

/** Two ways that don't depend on the words of the task; a program of one's own is begun. */
function waysOn(steps: readonly unknown[]): string {
  const [, name] = /^.+\.([\w$]+)$/u.exec(steps.map((step) => textOf(step, "tool")).join("")) ?? [];
  const begun = name === undefined ? "" : `, such as return await ${name}({ … })`;
  return `cem exec <file> runs code of your own${begun}; with llm.enabled in config.yaml a model writes it.`;
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
